"""Experiments: many trainings and searches, each in a process of its own, and what they come to."""

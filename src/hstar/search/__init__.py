"""Searches, the heuristics they call, and the validator of what they return."""

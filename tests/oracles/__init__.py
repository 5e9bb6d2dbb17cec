"""Slow, plain and right: what the native core is compared with."""

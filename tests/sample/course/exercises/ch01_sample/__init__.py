"""Exercises of all kinds: warm-up, core and stretch, with parts, rules and extra credit."""

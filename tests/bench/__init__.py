"""Measures what grading costs, and how that compares with nbgrader alone: `make bench`."""

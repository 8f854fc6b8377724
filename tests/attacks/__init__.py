"""The attack bank, and what it does to nbgrader as it comes."""

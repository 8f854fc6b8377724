"""The attack bank, and the programs that run it against nbgrader without this project's engine."""

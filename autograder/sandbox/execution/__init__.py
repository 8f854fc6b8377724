"""A student's code, run: a program of steps, the child that runs it, the process around it."""

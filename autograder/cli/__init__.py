"""The sub-commands of `autograder`, one module each.

A module `cli/NAME.py` is the sub-command NAME: its docstring is the help, `add_arguments(parser)` adds
its options, `run(args)` does the work and returns the exit status. `autograder/__main__.py` finds the modules.
Heavy imports belong inside `run`, so that `--help` is fast.
"""

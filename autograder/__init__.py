"""What the course's notebooks import: `check`, `hint`, `reveal` and `shows_error`."""

from autograder.check import check, hint
from autograder.lesson import reveal, shows_error

__all__ = ["check", "hint", "reveal", "shows_error"]

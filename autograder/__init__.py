"""The names that notebooks import: `check`, `hint`, `mine`, `progress` and the others of `__all__`.

This package builds the course, runs in its notebooks, and grades submissions. Each folder in it is one room with one
task; its `__init__.py` says what it is for and which file to read first. `__main__.py` runs the commands of `cli/`; the
other files directly in this folder depend on no room.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from autograder.notebook.assistant_prompt import ask_assistant
    from autograder.notebook.check_and_hint import check, hint
    from autograder.notebook.keep_in_drive import keep_in_drive
    from autograder.notebook.own_answer_or_fallback import mine
    from autograder.notebook.progress_overview import progress
    from autograder.notebook.reveal_and_shows_error import reveal, shows_error
    from explorers.bug_hunt_quiz import hunt, mend
    from explorers.own_code_quiz import about
    from explorers.review_quiz import review

__all__ = [
    "about",
    "ask_assistant",
    "check",
    "hint",
    "hunt",
    "keep_in_drive",
    "mend",
    "mine",
    "progress",
    "reveal",
    "review",
    "shows_error",
]
_HOMES = {
    "about": "explorers.own_code_quiz",
    "ask_assistant": "notebook.assistant_prompt",
    "check": "notebook.check_and_hint",
    "hint": "notebook.check_and_hint",
    "hunt": "explorers.bug_hunt_quiz",
    "keep_in_drive": "notebook.keep_in_drive",
    "mend": "explorers.bug_hunt_quiz",
    "mine": "notebook.own_answer_or_fallback",
    "progress": "notebook.progress_overview",
    "reveal": "notebook.reveal_and_shows_error",
    "review": "explorers.review_quiz",
    "shows_error": "notebook.reveal_and_shows_error",
}


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used: torch takes seconds to import, and most commands do not need it."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from autograder.package_name_collisions import refuse_other_packages

    refuse_other_packages()
    home = _HOMES[name]
    return getattr(import_module(home if home.startswith("explorers.") else f"autograder.{home}"), name)

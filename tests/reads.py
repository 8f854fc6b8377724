"""Which parts of the course, and whether documents and modules of the tests that they do not import, tests read.

A kind alone is that of every chapter; with `/chNN_...` behind it, of that chapter; with `OWN`, of the chapter whose
class the test looks at, or that stands in its name, itself or by an exercise, and of all where none does. A module that
is not named here reads nothing of that. One that reads more than it says has red tests, which say what to write here.
"""

LESSONS, EXERCISES, ANSWERS, SHIPPED = "lessons", "exercises", "answers", "shipped"
FIGURES, DOCUMENTS, TESTS = "figures", "documents", "tests"
KINDS = (LESSONS, EXERCISES, ANSWERS, SHIPPED, FIGURES, DOCUMENTS, TESTS)
EVERYTHING = KINDS
OWN = "<own>"


def _all_of(chapter: str) -> tuple[str, ...]:
    """All that belongs to a chapter."""
    return tuple(f"{kind}/{chapter}" for kind in (LESSONS, EXERCISES, ANSWERS, SHIPPED, FIGURES))


COURSE = (LESSONS, EXERCISES, ANSWERS, SHIPPED, FIGURES)
# Of these, a test that has a chapter in its name reads those before it too.
UP_TO = ("mine_in_chapters",)
READS: dict[str, tuple[str, ...]] = {
    "agreement": _all_of("ch01_tensors"),
    "arrange": (LESSONS, EXERCISES, ANSWERS, SHIPPED),
    "attacks": (DOCUMENTS,),
    "attempts": (DOCUMENTS, TESTS),
    "bank": _all_of(OWN),
    "card": COURSE,
    "ch06_hunt": _all_of("ch06_capstone"),
    "cheating": _all_of(OWN),
    "colab": COURSE,
    "commands": (LESSONS, DOCUMENTS),
    "copies": (LESSONS,),
    "desk": (LESSONS,),
    "exercise": (EXERCISES,),
    "figures": (LESSONS, FIGURES),
    "forged": (f"{EXERCISES}/ch04_training",),
    "graded_banks": _all_of(OWN),
    "handed": (LESSONS,),
    "inbox": (LESSONS,),
    "judge": (f"{EXERCISES}/ch04_training", f"{SHIPPED}/ch04_training"),
    "leaks": COURSE,
    "ledger": _all_of(OWN),
    "mine_in_chapters": _all_of(OWN),
    "mutation": _all_of(OWN),
    "names": (ANSWERS,),
    "other_processors": EVERYTHING,
    "other_torch": COURSE,
    "own": (DOCUMENTS, TESTS),
    "own_lines": _all_of(OWN),
    "packed": COURSE,
    "parity": _all_of(OWN),
    "progress": COURSE,
    "reading": (f"{LESSONS}/{OWN}",),
    "remembered": EVERYTHING,
    "reporting_equal": (LESSONS, EXERCISES, ANSWERS),
    "reporting_students": (LESSONS,),
    "rooms": EVERYTHING,
    "rules": (*_all_of("ch04_training"), *_all_of("ch06_capstone")),
    "setup": EVERYTHING,
    "side_paths": (LESSONS,),
    "site": EVERYTHING,
    "site_taken": EVERYTHING,
    "suite": EVERYTHING,
    "sync": EVERYTHING,
    "tally": EVERYTHING,
    "watch": EVERYTHING,
    "words": (EXERCISES,),
    "worth_a_look": COURSE,
}

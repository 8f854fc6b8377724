"""Which parts of the course, and whether documents and modules of the tests that they do not import, tests read.

A kind alone is that of every chapter; with `/chNN_...` behind it, of that chapter; with `OWN`, of the chapter whose
class the test looks at, or that stands in its name, itself or by an exercise, and of all where none does; with
`SO_FAR`, of that chapter and those before. `EXERCISE` is the exercise in the test's name: its cells, file, answers
and what is shipped of it, whatever files of its chapter are opened on the way; where no exercise is named, all of
`OWN`. A module that is not named here reads nothing of that. Tests that read more than that are not remembered, and
the end of a run says what to write here.
"""

LESSONS, EXERCISES, ANSWERS, SHIPPED = "lessons", "exercises", "answers", "shipped"
FIGURES, DOCUMENTS, TESTS = "figures", "documents", "tests"
KINDS = (LESSONS, EXERCISES, ANSWERS, SHIPPED, FIGURES, DOCUMENTS, TESTS)
EVERYTHING = KINDS
OWN, SO_FAR = "<own>", "<so far>"
EXERCISE = "exercise"


def _of(chapter: str, *kinds: str) -> tuple[str, ...]:
    """These kinds of a chapter; all of it where none is named."""
    return tuple(f"{kind}/{chapter}" for kind in kinds or COURSE)


COURSE = (LESSONS, EXERCISES, ANSWERS, SHIPPED, FIGURES)
HANDED_OUT = (LESSONS, EXERCISES, SHIPPED, FIGURES)  # what students get, and what it is made of
READS: dict[str, tuple[str, ...]] = {
    # proofs of every exercise, or of every chapter
    "agreement": _of("ch01_tensors"),
    "arrange": COURSE,
    "bank": _of(OWN),
    "ch06_hunt": _of("ch06_capstone"),
    "check_and_grading": (*_of(OWN, LESSONS, FIGURES), EXERCISE),
    "cheating": (*_of(OWN, LESSONS, FIGURES), EXERCISE),
    "cut_losses": (LESSONS, EXERCISES, ANSWERS, SHIPPED, FIGURES),
    "colab": (*_of("ch01_tensors"), *_of(OWN), DOCUMENTS),
    "docstring_examples": _of(OWN),
    "forged": _of("ch04_training"),
    "graded_banks": (*_of(OWN, LESSONS, FIGURES), EXERCISE),
    "judge": _of("ch04_training", EXERCISES, SHIPPED),
    "kept_between_calls": (LESSONS, EXERCISES, ANSWERS, FIGURES),
    "leaks": (*COURSE, DOCUMENTS),
    "mutation": _of(OWN),
    "names": _of(OWN, ANSWERS),
    "other_processors": (*COURSE, TESTS),
    "own_lines": (*_of(OWN), EXERCISES, SHIPPED),
    "parity": _of(OWN),
    "replaced_names": (
        EXERCISES,
        *(
            part
            for stem in ("ch01_tensors", "ch03_modules", "ch05_gpu_amp")
            for part in _of(stem, LESSONS, ANSWERS, FIGURES)
        ),
    ),
    "reporting_equal": (LESSONS, EXERCISES, ANSWERS, FIGURES),
    "rules": (*_of("ch04_training"), *_of("ch06_capstone")),
    "tally": (*COURSE, DOCUMENTS),
    "worth_a_look": (LESSONS, *_of(OWN)),
    # what students get
    "card": HANDED_OUT,
    "exercise": (EXERCISES,),
    "figures": (LESSONS, FIGURES),
    "first_cells": (LESSONS, FIGURES),
    "handed": (LESSONS,),
    "inbox": (LESSONS,),
    "ledger": _of(OWN, *HANDED_OUT),
    "mine_in_chapters": (LESSONS, *_of(OWN, FIGURES), EXERCISE),
    "other_torch": HANDED_OUT,
    "percent": (LESSONS,),
    "packed": (LESSONS, *_of(OWN, *HANDED_OUT)),
    "progress": (EXERCISES, SHIPPED),
    "reading": _of(OWN, LESSONS),
    "reporting_students": (LESSONS,),
    "side_paths": (LESSONS,),
    "sync": (LESSONS, EXERCISES, SHIPPED),
    "values": (EXERCISES, SHIPPED),
    "words": (EXERCISES,),
    # what a kernel in a browser's test reads, which nothing watches
    "formgrader": (*_of("ch01_tensors"), EXERCISES),
    "notebooks": (*_of(OWN), *_of(SO_FAR, *HANDED_OUT)),
    "pictures": (FIGURES,),
    # the project as a whole
    "attacks": (DOCUMENTS,),
    "attempts": (DOCUMENTS,),
    "commands": (DOCUMENTS,),
    "own": (DOCUMENTS,),
    "readme": (*_of("ch04_training"), DOCUMENTS),
    "remembered": EVERYTHING,
    "rooms": (LESSONS, EXERCISES, FIGURES, DOCUMENTS, TESTS),
    "setup": (*HANDED_OUT, DOCUMENTS, TESTS),
    "site": (*COURSE, DOCUMENTS),
    "site_taken": (LESSONS, *_of("ch04_training"), DOCUMENTS),
    "suite": (*HANDED_OUT, DOCUMENTS, TESTS),
    "watch": EVERYTHING,
}

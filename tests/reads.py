"""Which parts of the course, and whether documents and modules of the tests that they do not import, tests read.

A kind alone is that of every chapter; with `/chNN_...` behind it, of that chapter; with `OWN`, of the chapter whose
class the test looks at, or that stands in its name, and of all where none does. A module that is not named here may
read all. What a module reads that is not said here turns its tests red, with what to write.
"""

LESSONS, EXERCISES, ANSWERS, SHIPPED = "lessons", "exercises", "answers", "shipped"
FIGURES, DOCUMENTS, TESTS = "figures", "documents", "tests"
KINDS = (LESSONS, EXERCISES, ANSWERS, SHIPPED, FIGURES, DOCUMENTS, TESTS)
EVERYTHING = KINDS
OWN = "<own>"
UP_TO: tuple[str, ...] = ()
READS: dict[str, tuple[str, ...]] = {}

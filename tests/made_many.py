"""Made exercises `one`, `two`, ... with the cases of `made`, for the tests of running several in a row."""

from autograder.watching.exercise import ExerciseSet
from autograder.watching.probe import calling
from tests import made

NAMES = ("one", "two", "three", "four", "five", "six")
EXERCISES = ExerciseSet("ch98_many")
for name in NAMES:
    EXERCISES.add(name, tier="core", hints=("None.",), probe=calling())(made.double)

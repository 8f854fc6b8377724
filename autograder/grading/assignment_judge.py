"""The judge of an assignment that may have graded hunts and questions: it knows the hunts' programs."""

from __future__ import annotations

from collections.abc import Sequence

from autograder.course.answer_bank import AnswerBank
from autograder.course.borrowed_exercises import ExerciseOfOtherChapter, select_by_exact_type
from autograder.course.chapter_judge import Judge
from autograder.errors import ExerciseError
from autograder.exercises.exercise import ExerciseSet
from autograder.grading.bug_hunts_as_exercises import BugHuntExercise, with_exercises_of_other_chapters
from autograder.grading.own_code_questions_as_exercises import OwnCodeQuestionsExercise
from autograder.questions.bug_hunt_file import read_hunts
from autograder.questions.mending_exercise import MendingExercise, mending_exercise


class JudgeWithBugHunts(Judge):
    """Judges the answers to an assignment; each hunt among what it borrows is a `MendingExercise` of its own name.

    A mend is right or not, whichever known mistake it shows, so the bank of a hunt is empty. Parts with questions are
    in its chapter, for their points, and not among its `names`: nothing of them is probed.
    """

    def _borrow(self, lent: Sequence[ExerciseOfOtherChapter]) -> None:
        hunts, parts = select_by_exact_type(lent, BugHuntExercise), select_by_exact_type(lent, OwnCodeQuestionsExercise)
        super()._borrow(select_by_exact_type(lent, ExerciseOfOtherChapter))
        judges = {each.name: Judge(self.course, each.home, only=each.hunted) for each in hunts}
        self.chapter = with_exercises_of_other_chapters(self.chapter, self.course, [*hunts, *parts])
        self.names = (*self.names, *judges)
        self.homes = tuple(dict.fromkeys((*self.homes, *(each.home for each in hunts))))
        made = [self._mending(each, judges[each.name]) for each in hunts]
        self.exercises = ExerciseSet(self.chapter.stem, [*self.exercises, *made])
        self.banks |= {each.name: AnswerBank(each.name) for each in hunts}
        self.solutions |= {each.name: judges[each.name].solutions[each.hunted] for each in hunts}

    def _mending(self, hunt: BugHuntExercise, judge: Judge) -> MendingExercise:
        """Return the exercise of a hunt; raise ExerciseError if the course has no program for it."""
        known = read_hunts(self.course, hunt.home).get(hunt.hunted)
        made = mending_exercise(judge.exercises[hunt.hunted], known)
        if not made.hunts:
            raise ExerciseError(
                f"check_{hunt.name} is a graded hunt, and {hunt.hunted} has no program to mend. Nothing was graded. "
                f"Run `autograder hunts {hunt.hunted}`, or choose another exercise."
            )
        return made

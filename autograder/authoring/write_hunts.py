"""Write bug hunts (programs in which students find the faulty line) to one committed file per chapter, in `hunts/`."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

from autograder.authoring.generate_bug_hunts import find_hunts, why_exercise_has_no_hunts
from autograder.authoring.match_program_to_mistake import ProgramMistakeMatcher
from autograder.course.chapter_judge import Judge
from autograder.course.chapter_reader import read_chapter
from autograder.course.course import course_in
from autograder.course.missing_exercise_parts import ExerciseParts
from autograder.files import sha256_of_texts, write_all
from autograder.questions.bug_hunt_file import BugHunt, ExerciseHunts, encode_hunts, hunts_path, read_hunts
from autograder.questions.find_distractors import mistakes_excluded_by

_LETTERS = 12  # of a digest
_MOST_FALSE = 8  # sentences of other mistakes that are kept for each mistake; a question shows three


def digest_of_hunt_sources(parts: ExerciseParts) -> str:
    """Return a digest of what the hunts of an exercise are made from: its solution, its cases and its answer bank."""
    chapter = read_chapter(parts.chapter)
    texts = (parts.exercise.read_bytes(), parts.bank.read_bytes())
    return sha256_of_texts(chapter.prelude, chapter.solution(parts.name), *texts)[:_LETTERS]


def exercises_with_outdated_hunts(course: Path, stem: str) -> list[str]:
    """Return the exercises of a chapter whose hunts were made from something else than the course holds now."""
    known = read_hunts(course, stem)
    names = read_chapter(ExerciseParts(course, stem, "").chapter).exercises
    now = {name: digest_of_hunt_sources(ExerciseParts(course, stem, name)) for name in names}
    return [name for name in names if name not in known or known[name].made_of != now[name]]


def write_hunts(parts: ExerciseParts) -> str:
    """Search and prove the hunts of an exercise, write them into its chapter's file, and return a line on them."""
    course, stem, name = parts.course, parts.stem, parts.name
    order, digest = read_chapter(parts.chapter).exercises, digest_of_hunt_sources(parts)
    runs = ProgramMistakeMatcher(Judge(course, stem, only=name), name)
    hunts = find_hunts(runs)
    # Sentences are refuted by what readers have: where something trains, this machine may see something else.
    known = (runs.exercise, course_in(course).keys(stem).get(name, runs.key), runs.bank)
    false = {tag: tuple(mistakes_excluded_by(*known, tag)[:_MOST_FALSE]) for tag in {each.mistake for each in hunts}}
    hunts = recheck_hunts_in_new_process(parts, [each for each in hunts if len(false[each.mistake]) >= 2])
    kept = {tag: false[tag] for tag in sorted({each.mistake for each in hunts})}
    every = read_hunts(course, stem) | {name: ExerciseHunts(digest, kept, hunts)}
    write_all({hunts_path(course, stem): encode_hunts({each: every[each] for each in order if each in every})})
    if not hunts:
        return f"{name}: no hunts: {why_exercise_has_no_hunts(runs)}"
    return f"{name}: {len(hunts)} hunts, of {len(kept)} mistakes"


def recheck_hunts_in_new_process(parts: ExerciseParts, hunts: Sequence[BugHunt]) -> tuple[BugHunt, ...]:
    """Return the hunts that show their mistake, and do not pass, in a process in which the search has not run.

    A program that the search tries may change what the later ones find: an attribute of a class of torch, say.
    """
    with ProcessPoolExecutor(1, get_context("spawn")) as pool:
        return pool.submit(_holding, parts, tuple(hunts)).result()


def _holding(parts: ExerciseParts, hunts: tuple[BugHunt, ...]) -> tuple[BugHunt, ...]:
    runs = ProgramMistakeMatcher(Judge(parts.course, parts.stem, only=parts.name), parts.name)
    return tuple(each for each in hunts if runs.shows_as(each.mistake, each.code) and not runs.passes(each.code))

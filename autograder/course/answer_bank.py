"""The answer bank: known wrong answers with their messages for students, and alternative right answers."""

from __future__ import annotations

import ast
import inspect
import re
import textwrap
import traceback
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any, TypeVar

from autograder.course.answer_bank_replacements import apply_change, bare, define_answer
from autograder.course.chapter_reader import read_chapter
from autograder.course.course_location import chapter_path
from autograder.errors import AnswerBankError
from autograder.name_bindings import find_used_and_bound_names

Function = TypeVar("Function", bound=Callable[..., Any])
_TAG = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
# Names whose value depends on the module in which the code runs, although no statement binds them.
_OF_THE_PLACE = frozenset(("__builtins__", "__file__", "__name__", "dir", "eval", "exec", "globals", "locals", "vars"))


@dataclass(frozen=True)
class KnownAnswer:
    """A known answer to an exercise: a wrong one with the message for students, or a right one.

    `sentence` is the message that a student with this wrong answer reads; None marks a right answer. If `facet` is
    given, `sentence` is empty, and the student reads the failed requirement's message for that facet. `also` lists the
    tags of other wrong answers whose messages are true of this one too. `unless` is a regular expression; a student
    whose code matches it does not get the message. With `slip`, the answer loses the points of the first requirement
    that it fails, and no others, because the later failures follow from the same small mistake.
    """

    exercise: str
    tag: str
    sentence: str | None
    function: Callable[..., Any]
    source: str
    facet: str = ""
    also: tuple[str, ...] = ()
    unless: str = ""
    slip: bool = False

    @property
    def is_right(self) -> bool:
        """Return whether the answer is right, and so must get full points."""
        return self.sentence is None

    def means_same_below(self, setup: Mapping[str, Any]) -> bool:
        """Return whether each name in its source has the same value after `setup` as in the bank.

        If so, the answer shows the same observations in the bank's module and below the setup cell of a chapter.
        """
        function = _a_method(self.function) if isinstance(self.function, type) else self.function
        there = getattr(function, "__globals__", None)
        used = find_used_and_bound_names(ast.parse(self.source).body).used
        return there is not None and not used & _OF_THE_PLACE and all(there.get(n) is setup.get(n) for n in used)


class AnswerBank:
    """The known answers to one exercise, in the order of their file."""

    def __init__(self, exercise: str) -> None:
        self.exercise = exercise
        self.survivors: dict[str, str] = {}
        self.changes: dict[str, tuple[Mapping[str, str], str]] = {}
        self._answers: list[KnownAnswer] = []

    def wrong(
        self,
        tag: str,
        sentence: str,
        *,
        also: tuple[str, ...] = (),
        unless: str = "",
        slip: bool = False,
        change: Mapping[str, str] | None = None,
        of: str = "",
    ) -> Callable[[Function], Function]:
        r"""Register a wrong answer, with the message that explains the misunderstanding to the student.

        An answer of this kind can resemble another wrong answer and get its message. If that message is true as well,
        name the other answer in `also`. If the message says that the code lacks something, as in "you never call step",
        give as `unless` a pattern that proves the message false, as in `unless=r"\.step\("`.

        If the idea is right, and one factor or constant is wrong, pass `slip=True`: the answer then loses only the
        points of the first requirement that it fails.

        If the answer is the worked solution with a small change, pass the change, and write no function below:
        `change={"/ count": "/ len(x)"}`. Each string must occur exactly once in the solution without its comments and
        docstrings, or in the right answer that `of` names.
        """
        if not sentence.strip():
            raise AnswerBankError(f"the wrong answer {tag!r} to {self.exercise!r} needs a sentence for the student")
        known = KnownAnswer(self.exercise, tag, sentence, _unmade, "", also=also, unless=unless, slip=slip)
        return self._register(known, change, of)

    def told(
        self,
        tag: str,
        facet: str,
        *,
        also: tuple[str, ...] = (),
        change: Mapping[str, str] | None = None,
        of: str = "",
    ) -> Callable[[Function], Function]:
        """Register a wrong answer whose message comes from a requirement, because a single bool identifies it.

        Other mistakes may change the same bool, so the student reads the failed requirement's message for `facet`,
        which is true of all of them.
        """
        if not facet.strip():
            raise AnswerBankError(
                f"the wrong answer {tag!r} to {self.exercise!r} needs a facet whose message students read"
            )
        return self._register(KnownAnswer(self.exercise, tag, "", _unmade, "", facet, also), change, of)

    def right(self, tag: str) -> Callable[[Function], Function]:
        """Register a right answer that is structured differently from the reference."""
        return self._register(KnownAnswer(self.exercise, tag, None, _unmade, ""))

    def survives(self, reasons: Mapping[str, str]) -> None:
        """List the mutants of the worked solution that pass because they are right: each change, with the reason."""
        self.survivors |= reasons

    def make_changed(self, solution: str, prelude: str) -> Iterator[tuple[str, str]]:
        """Apply the changes of answers given as one; yield the tag and the error of each failure."""
        bases = {"": solution} | {answer.tag: answer.source for answer in self if answer.is_right}
        for place, answer in enumerate(self._answers):
            change, of = self.changes.get(answer.tag, ({}, ""))
            if not change:
                continue
            try:
                if of not in bases:
                    raise AnswerBankError("there is no such answer")
                source = apply_change(bare(bases[of]), change)
                function = define_answer(self.exercise, answer.tag, source, prelude)
                self._answers[place] = replace(answer, function=function, source=source)
            except AnswerBankError as error:
                base = f"the right answer {of!r}" if of else "the worked solution"
                yield answer.tag, f"the answer {answer.tag!r} to {self.exercise!r} changes {base}: {error}"

    def _register(
        self, known: KnownAnswer, change: Mapping[str, str] | None = None, of: str = ""
    ) -> Callable[[Function], Function]:
        tag = known.tag
        if not _TAG.fullmatch(tag):
            raise AnswerBankError(f"expected a tag like 'no-keepdim' for {self.exercise!r}, found {tag!r}")
        if any(answer.tag == tag for answer in self._answers):
            raise AnswerBankError(
                f"the answer {tag!r} to {self.exercise!r} is in the bank twice; give one of them another tag"
            )
        if change:
            self.changes[tag] = change, of
            self._answers.append(known)

        def register(function: Function) -> Function:
            if change or of:
                raise AnswerBankError(
                    f"the answer {tag!r} to {self.exercise!r} has a function and a change; take one out"
                )
            if function.__name__ != self.exercise:
                raise AnswerBankError(
                    f"expected an answer called {self.exercise!r} under {tag!r}, found {function.__name__!r}"
                )
            source = _source(function)
            answer = _class_of_its_own(function, source) if isinstance(function, type) else function
            self._answers.append(replace(known, function=answer, source=source))
            return function

        return register

    def __iter__(self) -> Iterator[KnownAnswer]:
        return iter(self._answers)


def _unmade(*_: object, **__: object) -> None:
    raise AnswerBankError("an answer that is given as a change cannot be called before its bank is loaded")


def _source(answer: Function) -> str:
    """Return the source of a function or class without its decorators, as a solution cell would contain it.

    `inspect.getsource` is only the fallback, for functions inside functions: it tokenizes the whole file for each
    answer, and for several classes of the same name it returns the first.
    """
    made = _a_method(answer) if isinstance(answer, type) else inspect.unwrap(answer)
    code: CodeType | None = getattr(made, "__code__", None)
    text = Path(code.co_filename).read_text(encoding="utf-8") if code else ""
    for node in _definitions(text):
        if code and code.co_firstlineno in _lines(node, isinstance(answer, type)):
            return "\n".join(text.split("\n")[node.lineno - 1 : node.end_lineno]) + "\n"
    text = textwrap.dedent(inspect.getsource(answer))
    return "\n".join(text.splitlines()[ast.parse(text).body[0].lineno - 1 :]) + "\n"


def _lines(node: ast.FunctionDef | ast.ClassDef, whole: bool) -> range:
    """Return the lines in which the first line of the code object can be.

    For a function this is its first line. For a class (`whole`) it is any of its lines, because the code object belongs
    to a method.
    """
    first = min([node.lineno, *(each.lineno for each in node.decorator_list)])
    return range(first, (node.end_lineno or first) + 1 if whole else first + 1)


@lru_cache(maxsize=1)
def _definitions(text: str) -> list[ast.FunctionDef | ast.ClassDef]:
    """Return the functions and classes in a text; cached, so that a bank is not parsed again for each answer."""
    return [node for node in ast.parse(text).body if isinstance(node, ast.FunctionDef | ast.ClassDef)]


def _class_of_its_own(made: type, source: str) -> Callable[..., Any]:
    """Execute the source of a class again in a separate namespace, and return the new class.

    All classes of a bank have the same name. A reference to it, as in `super(Net, self)`, must mean the class itself.
    """
    namespace = dict(_a_method(made).__globals__)
    exec(compile(source, f"<an answer to {made.__name__}>", "exec"), namespace)
    answer: Callable[..., Any] = namespace[made.__name__]
    return answer


def _a_method(made: type) -> FunctionType:
    """Return one of the functions defined in the body of a class."""
    members = (getattr(member, "__func__", member) for member in vars(made).values())
    return next(member for member in members if isinstance(member, FunctionType))


def load_bank(path: Path) -> AnswerBank:
    """Return the answer bank in a file; raise AnswerBankError, with the line, if it cannot be read."""
    spec = spec_from_file_location(f"answers_to_{path.stem}", path)
    assert spec is not None and spec.loader is not None
    module = module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        line = getattr(error, "lineno", None) or traceback.extract_tb(error.__traceback__)[_frame(error, path)].lineno
        kind = "" if isinstance(error, AnswerBankError) else f"{type(error).__name__}: "
        raise AnswerBankError(f"{path}:{line}: {kind}{error}. Correct the answer bank.") from error
    bank = getattr(module, "bank", None)
    if not isinstance(bank, AnswerBank) or bank.exercise != path.stem:
        where = f"{path}:{_line_of_bank(path)}"
        raise AnswerBankError(f'{where}: expected `bank = AnswerBank("{path.stem}")`, found {_found(bank)}. Write it.')
    if bank.changes:
        chapter = read_chapter(chapter_path(path.parents[2], path.parent.name))
        unmade = bank.make_changed(chapter.solution(bank.exercise), chapter.prelude)
        if errors := [f"{path}:{_line_of(path, tag)}: {what}. Correct it." for tag, what in unmade]:
            raise AnswerBankError("\n".join(errors))
    return bank


def _line_of(path: Path, tag: str) -> int:
    """Return the number of the line with an answer's tag; 1 if the tag is not written as a literal."""
    text = path.read_text(encoding="utf-8")
    found = re.search(rf"""\.(?:wrong|told)\(\s*["']{tag}["']""", text)
    return text.count("\n", 0, found.end()) + 1 if found else 1


def _line_of_bank(path: Path) -> int:
    """Return the number of the line that begins with `bank`, or 1."""
    rows = enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
    return next((number for number, row in rows if re.match(r"bank\b", row)), 1)


def _frame(error: Exception, path: Path) -> int:
    """Return the index of the innermost traceback frame in the bank's file, or -1."""
    frames = traceback.extract_tb(error.__traceback__)
    return max((i for i, frame in enumerate(frames) if frame.filename == str(path)), default=-1)


def _found(bank: object) -> str:
    return f"the bank of {bank.exercise!r}" if isinstance(bank, AnswerBank) else f"`bank = {bank!r}`"

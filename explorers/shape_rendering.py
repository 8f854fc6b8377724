"""Render the shape explorer as HTML: first how the sizes combine, then the resulting shape, and the numbers last."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from autograder.notebook.html_markup import Html, join, sentence_to_html, table, tag
from explorers.apply_operation import Exploration, TensorData
from explorers.explorer_markup import values_as_tables
from explorers.shape_alignment import AlignedDimension
from explorers.shape_predictions import PREDICTION_HOLDS

NOTHING = Html("")


def exploration_html(found: Exploration, *, covered: bool = False, verdict: str = "", is_filmed: bool = False) -> Html:
    """Return an exploration as HTML. `covered` hides all that reveals the result; `verdict` is on a prediction.

    With `is_filmed`, the numbers are left out, because a film below shows them.
    """
    return tag(
        "div",
        tag("p", tag("code", found.code), class_="x-code"),
        _sizes(found, covered),
        tag("p", sentence_to_html(found.rule), class_="x-rule"),
        _question(found) if covered else _outcome(found, verdict),
        NOTHING if is_filmed else _values(found, covered),
        _facts(found, covered),
        class_="x-shapes",
    )


# --- how the sizes meet


def _sizes(found: Exploration, covered: bool) -> Html:
    """Return the sizes, aligned if dimensions combine one by one; not aligned while covered, to reveal nothing."""
    drawn = _aligned(found) if found.rows and not covered else _counted(found, covered)
    return tag("div", drawn, class_="x-scroll", data_keep="sizes")


def _aligned(found: Exploration) -> Html:
    """Return one column for each dimension: the inputs' sizes, the resulting size, and the reason."""
    lines: list[list[str]] = [
        [shown.name, *(_size(row, row.sizes[place]) for row in found.rows)] for place, shown in enumerate(found.inputs)
    ]
    fits = all(row.fits for row in found.rows)
    lines.append(["result" if fits else "no result", *(_result(row, fits) for row in found.rows)])
    lines.append(["why", *(tag("td", row.why, class_="x-why") for row in found.rows)])
    return table("How the shapes meet", (), lines, class_="x-sizes")


def _size(row: AlignedDimension, size: int | None) -> Html:
    if size is None:
        return tag("td", "–", class_="x-size x-none", title="no such axis")
    kind = "x-clash" if not row.fits else "x-same" if size == row.result else "x-changed"
    return tag("td", str(size), class_=f"x-size {kind}")


def _result(row: AlignedDimension, all_fit: bool) -> Html:
    if not row.fits:
        return tag("td", "✗", class_="x-size x-clash", title="does not fit")
    if row.result is None:
        return tag("td", "–", class_="x-size x-none", title="gone")
    return tag("td", str(row.result), class_="x-size x-result" if all_fit else "x-size x-none")


def _counted(found: Exploration, covered: bool) -> Html:
    """Return each tensor's sizes, and the number of elements that they make."""
    lines = [[shown.name, *_product(shown.shape, "x-same")] for shown in found.inputs]
    if covered:
        lines.append(["result", tag("td", "?", class_="x-size x-open")])
    elif found.shape is not None:
        lines.append(["result", *_product(found.shape, "x-result")])
    return table("The shapes", (), lines, class_="x-sizes")


def _product(shape: tuple[int, ...], kind: str) -> list[str]:
    count = prod(shape)
    cells = [tag("td", str(size), class_=f"x-size {kind}") for size in shape]
    words = f"{' × '.join(map(str, shape))} = {count:,}" if len(shape) > 1 else f"{count:,}"
    return [*cells, tag("td", f"{words} number{'' if count == 1 else 's'}", class_="x-count")]


# --- the result


def _question(found: Exploration) -> Html:
    """Return the question to the reader, or the note on an argument that could not be read."""
    if found.unread:
        return tag("p", sentence_to_html(found.note), class_="x-note")
    return tag("p", "What is the shape of the result?", class_="x-shape")


def _outcome(found: Exploration, verdict: str) -> Html:
    """Return the shape, which is known without arithmetic, or the reason why there is none."""
    right = "x-right" if PREDICTION_HOLDS in verdict else "x-note"
    told = tag("p", verdict, class_=right) if verdict else NOTHING
    note = tag("p", sentence_to_html(found.note), class_="x-note") if found.note else NOTHING
    if found.error:
        refusal = tag("p", "torch refuses: ", tag("code", found.error), class_="x-error")
        return join(told, refusal, note)
    if found.shape is None:
        return note
    shape = tag(
        "p", "Shape of the result, known before any number is: ", tag("code", str(found.shape)), class_="x-shape"
    )
    return join(told, shape, note)


def _values(found: Exploration, covered: bool) -> Html:
    drawn = [_tensor(shown) for shown in found.inputs]
    if found.result and not covered:
        drawn.append(tag("div", _tensor(found.result), class_="x-of-result"))
    return tag("div", *drawn, class_="x-parts")


def _tensor(shown: TensorData) -> Html:
    if shown.values is None:
        return tag("p", tag("code", shown.name), f": {prod(shown.shape):,} numbers, too many to write out")
    return values_as_tables(shown.name, shown.values)


def _facts(found: Exploration, covered: bool) -> Html:
    """Return each tensor's label, and whose memory the result views."""
    tensors = [*found.inputs, *([found.result] if found.result and not covered else [])]
    rows = [[shown.name, *(tag("code", text) for text in _label(shown))] for shown in tensors]
    told = (
        tag("p", sentence_to_html(memory_sentence(found)), class_="x-memory")
        if found.result and not covered
        else NOTHING
    )
    facts = table("Shape, stride, dtype", ("tensor", "shape", "stride", "dtype"), rows, class_="x-facts")
    return join(tag("div", facts, class_="x-scroll", data_keep="facts"), told)


def _label(shown: TensorData) -> Sequence[str]:
    return str(shown.shape), str(shown.stride), shown.dtype


def memory_sentence(found: Exploration) -> str:
    """Return a sentence on whether the result has memory of its own."""
    if found.shape and 0 in found.shape:
        return "The result has no numbers: there is nothing that could be shared."
    if not found.shares:
        return "The result has memory of its own: a change to it does not reach what went in."
    names = " and ".join(f"`{name}`" for name in found.shares)
    return f"The result is a view: it looks at the memory of {names}, and a change to one shows in the other."

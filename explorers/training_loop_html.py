"""Render the loop stepper as HTML: the five lines of a training step and their effects, parameters, loss curve."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import Any

from autograder.notebook.html_markup import Html, join, sentence_to_html, table, tag
from explorers.explorer_markup import choice_button, short_number_text
from explorers.loop_line_executor import GRADIENT, PARAMETER, PLACES, STATE
from explorers.loss_curve_beside_right_order import loss_curves_html
from explorers.training_loop_state import MOST_VALUES, DisplayedTensor, Effect, LoopState

MOST_ITEMS = 4  # tensors listed in a cell; more are summarized by one norm
MOST_PARAMETERS = 30  # in the table of all parameters


def loop_picture(state: LoopState, *, live: bool = True) -> Html:
    """Return the whole picture; `live` puts buttons beside the lines."""
    return join(
        tag("p", sentence_to_html(_setting(state))),
        tag("div", _lines(state, live), class_="x-scroll x-loop-frame", data_keep="lines"),
        _legend(state),
        _errors(state),
        _remarks(state),
        tag("p", sentence_to_html(state.note), class_="x-note") if state.note else Html(""),
        loss_curves_html(state.losses, state.right, state.right_error) if live or len(state.losses) > 1 else Html(""),
        _parameters(state),
    )


def _setting(state: LoopState) -> str:
    return (
        f"`{state.model}`, trained with `{state.optimizer}`, on copies: your own model and optimizer stay as they are."
    )


def in_words(state: LoopState) -> str:
    """Return one or two sentences on where the loop is and what the last line did."""
    ran = [effect for effect in state.effects if effect.status in ("done", "stopped")]
    if not ran:
        return f"Before step {state.step}. Next: {_next(state)}." if _next(state) else "Every line is left out."
    last = ran[-1]
    if last.status == "stopped":
        return f"Step {state.step} stopped at {last.code}: {last.error}"
    changed = [place for place in PLACES if any(seen.key.place == place for seen in last.changed)]
    told = f"Step {state.step}: {last.code} changed {' and '.join(changed) or 'nothing'}."
    if not state.finished:
        return told
    loss = state.losses[-1]
    return f"{told} The step is finished" + (f"; its loss: {short_number_text(loss)}." if loss is not None else ".")


def _next(state: LoopState) -> str:
    return next((effect.code for effect in state.effects if effect.status == "next"), "")


# --- the lines


def _lines(state: LoopState, live: bool) -> Html:
    places = [place for place in PLACES if any(seen.key.place == place for seen in (*state.before, *state.now))]
    start = [_td(_cell(_at(state.before, place))) for place in places]
    last = next((effect for effect in reversed(state.effects) if effect.status in ("done", "stopped")), None)
    rows = [["before this step", *([_td("")] if live else []), *start]]
    for effect in state.effects:
        cells = [_changed(effect, place) for place in places]
        rows.append([_code(effect, live and effect is last), *([_buttons(effect)] if live else []), *cells])
    head = ["line", *(["change the loop"] if live else []), *places]
    return table(f"Step {state.step}: what each line changes", head, rows, class_="x-loop")


def _td(content: str, class_: str | None = None) -> Html:
    return tag("td", content, class_=class_)


def _legend(state: LoopState) -> Html:
    """Explain the marks and words of the table below it."""
    told = ["A dash: this line did not change it."]
    if any(seen.norm is not None for seen in (*state.before, *state.now)):
        told.append(f"Of more than {MOST_VALUES} numbers, the norm is shown: the root of the sum of their squares.")
    return tag("p", " ".join(told), class_="x-loop-legend")


def _code(effect: Effect, is_last: bool) -> Html:
    """Return the line, with a mark of where the loop is beside it."""
    words = {
        "next": "next",
        "stopped": "stopped here",
        "left out": "left out" if effect.line.when == "never" else "only in step 1",
        "done": "done just now" if is_last else "",
    }.get(effect.status, "")
    line = tag("del" if effect.status == "left out" else "span", tag("code", effect.code))
    status = tag("span", f" ({words})", class_="x-status") if words else Html("")
    mark = tag("span", "▶ ", aria_hidden="true") if effect.status == "next" else Html("")
    return join(mark, line, status)


def _changed(effect: Effect, place: str) -> Html:
    """Return the cell of one line and one place; empty until the line has run."""
    found = [seen for seen in effect.changed if seen.key.place == place]
    if not found:
        return _td("–" if effect.status == "done" else "")
    if all(seen.change == "again" for seen in found):
        return _td("computed again: the same")
    return _td(_cell(found), "x-changed")


def _cell(found: Sequence[DisplayedTensor]) -> Html:
    """Return several tensors of one place as a cell."""
    there = [seen for seen in found if seen.shape is not None]
    if not there:
        return tag("span", "None" if found and found[0].key.place == GRADIENT else "none yet" if found else "–")
    if len(found) <= MOST_ITEMS:
        return join(*(_item(seen) for seen in found))
    by_entry = groupby(sorted(found, key=lambda seen: seen.key.entry), key=lambda seen: seen.key.entry)
    return join(*(_together(entry, list(group)) for entry, group in by_entry))


def _item(seen: DisplayedTensor) -> Html:
    name = " ".join(filter(None, (seen.key.name, seen.key.entry)))
    label = tag("span", f"{name}: ", class_="x-name") if name else Html("")
    told = value_in_brief(seen)
    return tag("div", label, tag("span", told, class_="x-code"), class_=None if " " in told else "x-short")


def _together(entry: str, found: Sequence[DisplayedTensor]) -> Html:
    """Return many tensors as one entry: their number if all have the same one, else their common norm."""
    first = value_in_brief(found[0])
    alike = found[0].shape == () and all(value_in_brief(seen) == first for seen in found)
    told = first if alike else f"norm {short_number_text(math.hypot(*map(_norm, found)))}"
    label = f"{entry}, {len(found)} tensors: " if entry else f"{len(found)} tensors: "
    return tag("div", tag("span", label, class_="x-name"), tag("span", told, class_="x-code"))


def value_in_brief(seen: DisplayedTensor) -> str:
    """Return a tensor in a few characters: its number, its shape and numbers, or its shape and norm."""
    if seen.shape is None:
        return "None"
    if seen.norm is not None:
        return f"{_shape(seen.shape)}, norm {short_number_text(seen.norm)}"
    flat = list(_flat(seen.values))
    if len(flat) == 1:
        return short_number_text(flat[0])
    return f"{_shape(seen.shape)}: {', '.join(map(short_number_text, flat)) or 'no numbers'}"


def _shape(shape: Sequence[int]) -> str:
    return f"({shape[0]},)" if len(shape) == 1 else f"({', '.join(map(str, shape))})"


def _flat(values: Any) -> Iterable[Any]:
    if isinstance(values, list):
        for each in values:
            yield from _flat(each)
    else:
        yield values


def _norm(seen: DisplayedTensor) -> float:
    return seen.norm if seen.norm is not None else math.hypot(*(abs(each) for each in _flat(seen.values or [])))


def _at(found: Iterable[DisplayedTensor], place: str) -> list[DisplayedTensor]:
    return [seen for seen in found if seen.key.place == place]


def _buttons(effect: Effect) -> Html:
    """Return the buttons that move this line, leave it out, or run it only once."""
    line, when = effect.line.name, effect.line.when
    moves = [("up", "↑", f"move up: {effect.code}"), ("down", "↓", f"move down: {effect.code}")]
    switches = [("never", "leave out"), ("first", "only once")]
    return tag(
        "td",
        *(choice_button(name, line, arrow, aria_label=told, title=told) for name, arrow, told in moves),
        *(
            choice_button(
                name,
                line,
                words,
                aria_pressed="true" if when == name else "false",
                aria_label=f"{words}: {effect.code}",
            )
            for name, words in switches
        ),
        class_="x-buttons",
    )


# --- errors, remarks and parameters


def _errors(state: LoopState) -> Html:
    return join(
        *(
            tag(
                "p",
                "The loop stopped at ",
                tag("code", effect.code),
                ". The error: ",
                tag("code", effect.error),
                class_="x-error",
            )
            for effect in state.effects
            if effect.error
        )
    )


def _remarks(state: LoopState) -> Html:
    told = [join(tag("code", e.code), ": ", sentence_to_html(remark)) for e in state.effects for remark in e.remarks]
    told += [
        join(tag("code", e.code), ", a warning of torch: ", warning) for e in state.effects for warning in e.warnings
    ]
    told += [sentence_to_html(remark) for remark in state.remarks]
    if not told:
        return Html("")
    words = tag("p", "What the numbers say:")
    return tag("div", words, tag("ul", *(tag("li", each) for each in told)), class_="x-loop-remarks")


# --- every parameter


def _parameters(state: LoopState) -> Html:
    """Return a folded table with a row for each parameter."""
    names = [seen.key.name for seen in _at(state.now, PARAMETER)]
    entries = list(dict.fromkeys(seen.key.entry for seen in _at(state.now, STATE)))
    found = {seen.key: seen for seen in state.now}
    head = ["parameter", "value", GRADIENT, *entries]
    rows = []
    for name in names[:MOST_PARAMETERS]:
        own = [found.get(key) for key in _keys(name, entries)]
        rows.append([tag("code", name), *(_marked(seen) for seen in own)])
    caption = "Now. Bold: changed by the last line"
    more = len(names) - MOST_PARAMETERS
    rest = tag("p", f"And {more} more parameters, which are not listed.") if more > 0 else Html("")
    numbers = tag("div", table(caption, head, rows, class_="x-loop"), class_="x-scroll", data_keep="parameters")
    return tag("details", tag("summary", f"Each parameter ({len(names)})"), numbers, rest, data_keep="all parameters")


def _keys(name: str, entries: Sequence[str]) -> list[Any]:
    return [(PARAMETER, name, ""), (GRADIENT, name, ""), *((STATE, name, entry) for entry in entries)]


def _marked(seen: DisplayedTensor | None) -> Html:
    if seen is None:
        return _td("–")
    told = tag("span", value_in_brief(seen), class_="x-code")
    return _td(tag("strong", told), "x-changed") if seen.change else _td(told)

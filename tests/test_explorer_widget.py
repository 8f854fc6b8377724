"""The base of all explorers: messages from the page are checked, and the picture needs no page."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from html import escape
from typing import Any

import nbformat
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from nbconvert.exporters import HTMLExporter

from autograder.notebook.html_markup import Html, join, sentence_to_html, table, tag
from explorers.explorer_base_widget import Explorer
from explorers.explorer_controls import LONGEST, Control, InvalidChoice
from explorers.explorer_markup import choice_button, short_number_text, static_picture, values_as_tables
from tests.small_chapter import PROJECT


class Counter(Explorer):
    """A small explorer with a control of each kind, which records the choices that arrive."""

    def __init__(self) -> None:
        super().__init__("A <counter>")
        self.arrived: list[tuple[str, Any]] = []
        self.show()

    def draw(self) -> Html:
        return tag("p", f"{len(self.arrived)} arrived", choice_button("node", "n1", "a node"))

    def offer(self) -> Sequence[Control]:
        return [
            Control("choice", "color", "Color", "red", ("red", "blue")),
            Control("text", "sizes", "Sizes", "2"),
            Control("switch", "on", "On", False),
            Control("button", "go", "Go"),
            Control("button", "never", "Never", disabled=True),
            Control("part", "node", "Node", "n1", ("n1", "n2")),
        ]

    def tell(self) -> str:
        return f"{len(self.arrived)} arrived."

    def choose(self, name: str, value: Any) -> None:
        if value == "refuse":
            raise InvalidChoice("not `that` <b>one</b>")
        if value == "fail":
            raise RuntimeError("of <the model>")
        self.arrived.append((name, value))


def sent(explorer: Explorer, content: object) -> None:
    """Deliver a message as the page would."""
    explorer._handle_custom_msg(content, [])


@pytest.mark.parametrize(
    ("name", "value", "arrives"),
    [
        ("color", "blue", "blue"),
        ("sizes", "3, 4", "3, 4"),
        ("on", True, True),
        ("go", None, ""),
        ("node", "n2", "n2"),
    ],
)
def test_choice_arrives(name: str, value: object, arrives: object) -> None:
    """Each kind of control delivers its value, and the page gets the new state."""
    explorer = Counter()
    sent(explorer, {"choose": name, "value": value})

    assert [(name, arrives)] == explorer.arrived
    assert "1 arrived" in explorer.picture and "1 arrived." == explorer.said and 1 == explorer.heard


BAD = [
    None,
    [],
    "go",
    {},
    {"choose": None},
    {"choose": ["go"]},
    {"choose": "draw"},
    {"choose": "never", "value": None},
    {"choose": "color"},
    {"choose": "color", "value": "green"},
    {"choose": "color", "value": ["red"]},
    {"choose": "node", "value": "n3"},
    {"choose": "on", "value": "yes"},
    {"choose": "on", "value": 1},
    {"choose": "sizes", "value": 3},
    {"choose": "sizes", "value": "1" * (LONGEST + 1)},
    {"choose": "sizes", "value": "refuse"},
    {"choose": "sizes", "value": "fail"},
]


@pytest.mark.parametrize("content", BAD, ids=repr)
def test_bad_message_is_a_note(content: object) -> None:
    """An invalid message changes no state, shows a note, and is answered."""
    explorer = Counter()
    sent(explorer, content)

    assert [] == explorer.arrived and 1 == explorer.heard
    assert explorer.picture.startswith('<p class="x-note">') and "0 arrived" in explorer.picture
    assert explorer.said and "<b>" not in explorer.picture and "<the" not in explorer.picture


@settings(deadline=None)
@given(
    content=st.recursive(
        st.none() | st.booleans() | st.text() | st.floats(),
        lambda x: st.lists(x) | st.dictionaries(st.sampled_from(["choose", "value"]), x),
    )
)
def test_any_message_is_answered(content: object) -> None:
    """No message raises an error."""
    explorer = Counter()
    sent(explorer, content)

    assert 1 == explorer.heard


def test_choices_on_two_threads_are_both_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    """Messages that arrive in two threads at once are both shown."""
    explorer, is_sending, is_between, pictures = Counter(), threading.Event(), threading.Event(), list[str]()
    other = threading.Thread(target=lambda: is_sending.wait() and sent(explorer, {"choose": "on", "value": True}))

    def send_slowly(names: set[str]) -> None:
        pictures.extend(explorer.picture for name in names if name == "picture")
        is_sending.set()
        is_between.wait(0.3)  # time for the other thread to set its picture without sending it

    def tell_slowly() -> str:
        if threading.current_thread() is other:
            is_between.set()
            time.sleep(0.1)
        return "told"

    monkeypatch.setattr(explorer, "send_state", send_slowly)
    monkeypatch.setattr(explorer, "tell", tell_slowly)
    other.start()
    sent(explorer, {"choose": "go", "value": None})
    other.join()

    assert "1 arrived" in pictures[0] and "2 arrived" in pictures[-1] and 2 == explorer.heard


def test_note_goes_with_the_next_choice() -> None:
    """A note disappears with the next choice."""
    explorer = Counter()
    sent(explorer, {"choose": "sizes", "value": "refuse"})
    sent(explorer, {"choose": "sizes", "value": "2"})

    assert "x-note" not in explorer.picture


def test_page_sets_nothing() -> None:
    """A page cannot change the widget's traits."""
    explorer = Counter()
    explorer.set_state({"picture": "<script>1</script>", "controls": [], "heard": 9})

    assert "script" not in explorer.picture and explorer.controls and 0 == explorer.heard
    assert "script" not in explorer.page()


def test_parts_stand_in_the_picture_only() -> None:
    """The list of controls, plain data, leaves out those that are part of the picture."""
    controls = Counter().controls

    assert ["color", "sizes", "on", "go", "never"] == [control["name"] for control in controls]
    assert {"kind", "name", "label", "value", "options", "hint", "disabled", "submits"} == set(controls[0])


def bundle(explorer: Explorer) -> dict[str, Any]:
    """Return the data that a notebook keeps of an explorer."""
    data, _ = explorer._repr_mimebundle_()
    return data


def test_three_forms() -> None:
    """The bundle has the widget, the picture without buttons or scripts, and text."""
    data = bundle(Counter())

    assert "model_id" in data["application/vnd.jupyter.widget-view+json"]
    assert "A <counter>. 0 arrived." == data["text/plain"]
    style, _, shown = data["text/html"].partition("</style>")
    assert style.startswith("<style>") and "0 arrived" in shown and "a node" in shown and "A &lt;counter&gt;" in shown
    assert not any(word in shown for word in ("<button", "<script", "<noscript", "data-choose"))


def test_old_ipywidgets_show_the_same() -> None:
    """The display method of ipywidgets 7, which IPython would prefer, is disabled."""
    assert not callable(Counter()._ipython_display_)


def test_notebook_keeps_the_picture() -> None:
    """A saved notebook is valid, and its HTML page shows the picture."""
    output = nbformat.v4.new_output("display_data", bundle(Counter()))
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("", outputs=[output])])
    nbformat.validate(notebook)
    page, _ = HTMLExporter().from_notebook_node(notebook)

    assert "0 arrived" in page and "data-choose" not in page.partition('class="explorer"')[2]


def test_import_is_cheap() -> None:
    """Importing `explorers` imports neither widgets nor torch."""
    code = "import sys, explorers; print(sorted({'anywidget', 'ipywidgets', 'torch'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=PROJECT)

    assert "[]\n" == done.stdout


def test_name_stays_a_function() -> None:
    """An explorer's name is a function even after its module was imported."""
    code = "from explorers import shape_explorer; import explorers; print(callable(explorers.shape_explorer))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=PROJECT)

    assert "True\n" == done.stdout


def test_unknown_name() -> None:
    """An unknown name raises AttributeError."""
    import explorers

    with pytest.raises(AttributeError, match="'explorers' has no attribute 'graphs'"):
        _ = explorers.graphs


# Control characters and direction marks are replaced in children (`test_feedback.py`), so they are left out here.
_SIGNS = (*range(9), 0xB, 0xC, *range(0xE, 0x20), *range(0x7F, 0xA0), *range(0x202A, 0x202F), *range(0x2066, 0x206A))
_WORDS = st.text(st.characters(exclude_categories=("Cs",), exclude_characters="".join(map(chr, _SIGNS))))


class TestMarkup:
    @given(text=_WORDS, name=_WORDS)
    def test_all_text_is_escaped(self, text: str, name: str) -> None:
        """Text is escaped in children and attributes, unless it is markup."""
        made = tag("p", text, title=name)

        assert f'<p title="{escape(name)}">{escape(text)}</p>' == made
        assert f"<b>{made}</b>" == tag("b", made)

    def test_attributes(self) -> None:
        """Attribute names are HTML's; False and None omit an attribute, True writes only its name."""
        made = tag("td", class_="x", data_node=3, hidden=True, open=False, title=None)

        assert '<td class="x" data-node="3" hidden></td>' == made

    @given(value=st.text(), label=_WORDS)
    def test_still_picture_keeps_the_words(self, value: str, label: str) -> None:
        """Buttons become plain text with the same class."""
        picture = join("before ", choice_button("node", value, label, class_="x-node"))

        assert f'before <span class="x-node">{escape(label)}</span>' == static_picture(picture)

    def test_prose(self) -> None:
        """Text between backticks becomes code; a lone backtick stays."""
        assert "use <code>a&lt;b</code> here" == sentence_to_html("use `a<b` here")
        assert "a ` b" == sentence_to_html("a ` b")

    def test_table_names_rows_and_columns(self) -> None:
        """Headers have a scope for screen readers, and an empty corner is no header."""
        made = table("Sizes <2>", ("", "dim 0"), [("x", "3"), ("y", tag("td", "4", class_="big"))])

        assert "<caption>Sizes &lt;2&gt;</caption>" in made and '<th scope="col">dim 0</th>' in made
        assert '<td></td><th scope="col">' in made
        assert '<th scope="row">x</th><td>3</td>' in made and '<th scope="row">y</th><td class="big">4</td>' in made

    @pytest.mark.parametrize(
        ("value", "told"),
        [
            (1.0, "1"),
            (0.123456, "0.1235"),
            (float("nan"), "nan"),
            (-float("inf"), "-inf"),
            (True, "True"),
            (12345678, "12345678"),
            (1 - 2.5j, "1-2.5j"),
        ],
    )
    def test_number(self, value: object, told: str) -> None:
        """Numbers have four digits; other values appear by name."""
        assert told == short_number_text(value)

    @pytest.mark.parametrize(
        ("values", "tables", "cells"),
        [
            (5.0, 1, 1),
            ([1.0, 2.0], 1, 2),
            ([[1, 2], [3, 4]], 1, 4),
            ([[[1, 2], [3, 4]], [[5, 6], [7, 8]]], 2, 8),
            ([[[[1]], [[2]]]], 2, 2),
            ([], 1, 1),
            ([[], []], 1, 1),
            ([[[], []]], 1, 1),
        ],
    )
    def test_numbers(self, values: object, tables: int, cells: int) -> None:
        """Each matrix is a table with its index; an empty one has a text."""
        made = values_as_tables("x", values)

        assert (tables, cells) == (made.count("<table"), made.count("<td"))
        assert ("x[0]" in made) == (tables > 1 or values == [[[], []]])
        assert ("no numbers" in made) == (values in ([], [[], []], [[[], []]]))

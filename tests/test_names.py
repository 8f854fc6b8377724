"""The names that statements bind, change and use."""

from __future__ import annotations

import ast
import symtable

import pytest

from autograder.name_bindings import find_used_and_bound_names, names_used_when_run
from tests.small_chapter import PROJECT

CHAPTERS = sorted((PROJECT / "course" / "answers").glob("*/*.py"))


def statement(text: str) -> ast.stmt:
    """Return the only statement of a text."""
    (node,) = ast.parse(text).body
    return node


@pytest.mark.parametrize(
    ("text", "bound"),
    [
        ("a = b = 1", "a b"),
        ("a, (b, *c) = x", "a b c"),
        ("a: int = 1", "a"),
        ("a += 1", "a"),
        ("for i in x:\n    a = i\nelse:\n    b = 1", "i a b"),
        ("with open(p) as f, g() as (h, k):\n    a = 1", "f h k a"),
        ("try:\n    import a.b as c\nexcept E as e:\n    from d import f", "c e f"),
        ("import a.b", "a"),
        ("if x:\n    def f(y):\n        z = 1\n    class C:\n        w = 1", "f C"),
        ("print([(a := y) for y in x])", "a"),
        ("match x:\n    case {'k': v, **rest}: pass\n    case [p, *q]: pass", "v rest p q"),
        ("del a", ""),
        ("f(lambda x: (y := x))", ""),
        ("x[0] = y.z = 1", ""),
    ],
)
def test_bound(text: str, bound: str) -> None:
    """A statement binds these names, and none of an inner scope."""
    assert set(bound.split()) == find_used_and_bound_names([statement(text)]).bound


@pytest.mark.parametrize(
    ("text", "used"),
    [
        ("@a(b)\ndef f(x: c, y=d, *, z=e) -> g:\n    return h", "a b c d e g"),
        ("class C(B, metaclass=M):\n    k = j\n    @p\n    def f(self, x=d):\n        return n", "B M j p d"),
        ("f = partial(g, n)", "partial g n"),
        ("async def f():\n    await g()", ""),
    ],
)
def test_used_at_once(text: str, used: str) -> None:
    """These names are needed when the statement runs; names in a function's body are not."""
    assert set(used.split()) == names_used_when_run(statement(text))


@pytest.mark.parametrize(
    ("text", "used"),
    [
        ("def f(x, y=a, *z, w: b = c) -> d:\n    u = x + y + e\n    return u, z, w", "a b c d e"),
        ("def f():\n    def g(x):\n        return x + y + z\n    y = 1\n    return g", "z"),
        ("def f():\n    global n\n    n = n + m", "n m"),
        ("class C(B):\n    k = j\n    def f(self):\n        return k", "B j k"),
        ("r = [a for a in b if c(a)]", "b c"),
        ("r = {k: v for k, vs in d.items() for v in vs}", "d"),
        ("n += m", "n m"),
        ("f = lambda x, y=a: x + y + b", "a b"),
        ("def f(x):\n    for i in x:\n        print(i)\n    return [i for i in y]", "print y"),
    ],
)
def test_used(text: str, used: str) -> None:
    """Only global names count, without parameters, local variables and attributes."""
    assert set(used.split()) == find_used_and_bound_names([statement(text)]).used


@pytest.mark.parametrize(
    ("text", "attributes", "perhaps"),
    [
        ("model.rate = 1", "model", ""),
        ("model.layers[0].bias = b", "model", ""),
        ("model.eval()", "", "model"),
        ("init(model, x[0], key=opt)", "", "model x opt"),
        ("print(model)", "", ""),
        ("step = mine('step', model)", "", ""),
        ("for x in xs:\n    rows.append(x)", "", "rows x"),
        ("del table['a']", "table", ""),
        ("del table", "table", ""),
        ("setattr(model.layer, 'rate', rate)", "model", "model rate"),
    ],
)
def test_changed(text: str, attributes: str, perhaps: str) -> None:
    """Attributes and items that are set, and values that a call may change, are found."""
    found = find_used_and_bound_names([statement(text)])

    assert (set(attributes.split()), set(perhaps.split())) == (found.changed, found.perhaps_changed)


@pytest.mark.parametrize("path", CHAPTERS, ids=lambda path: path.stem)
def test_python_agrees(path: object) -> None:
    """For every answer of the bank, the used names equal those of Python's symbol table."""
    for node in ast.parse(path.read_text(encoding="utf-8")).body:  # type: ignore[attr-defined]
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            text = ast.unparse(node)
            assert (
                _globals(symtable.symtable(text, "answer", "exec"))
                == find_used_and_bound_names(ast.parse(text).body).used
            ), text


def _globals(table: symtable.SymbolTable) -> set[str]:
    """Return the names that Python looks up as globals; for a class body also the names it binds."""
    is_body = table.get_type() in ("module", "class")
    found = {
        each.get_name()
        for each in table.get_symbols()
        if each.is_referenced() and (each.is_global() or (is_body and each.is_local()))
    }
    return found.union(*map(_globals, table.get_children())) - {"__class__"}


def test_a_tree_too_deep_uses_all_its_names() -> None:
    """For a syntax tree that is too deep, all names count as used."""
    deep = "x = " + "lambda: " * 900 + "y"

    assert "y" in find_used_and_bound_names(ast.parse(deep).body).used

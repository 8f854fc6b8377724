"""The global names that an answer's code can look up, directly or through other objects."""

from __future__ import annotations

from typing import Any

import pytest

from autograder.notebook.referenced_names import transitive_names, undecorated

START = "import functools, contextlib\nimport torch\ndef net(x=0): return x\ndef deep(): return net()\n"
REACHING = {
    "call": "def answer(): return net()",
    "helper": "def answer(): return deep()",
    "nested function": "def answer():\n    def inner(): return net\n    return inner",
    "lambda": "answer = lambda: net",
    "comprehension": "def answer(): return [net() for _ in range(2)]",
    "default": "answer = lambda x=deep: x",
    "keyword default": "def answer(*, x=deep): return x",
    "closure": "def make(f):\n    return lambda: f()\nanswer = make(deep)",
    "wrapped": "@functools.lru_cache\ndef answer(): return net()",
    "library's decorator": "@torch.no_grad()\ndef answer(): return net()",
    "partial": "answer = functools.partial(map, deep)",
    "method": "class answer:\n    def f(self): return net()",
    "static method": "class answer:\n    @staticmethod\n    def f(): return net()",
    "class method": "class answer:\n    @classmethod\n    def f(cls): return net()",
    "property": "class answer:\n    @property\n    def f(self): return net()",
    "base class": "class Base:\n    def f(self): return net()\nclass answer(Base): ...",
    "class inside": "def answer():\n    class A:\n        f = net\n    return A",
    "bound method": "class A:\n    def f(self): return net()\nanswer = A().f",
    "object": "class A:\n    def __call__(self): return net()\na = A()\ndef answer(): return a()",
    "generator": "@contextlib.contextmanager\ndef answer():\n    yield net",
}
NOT_REACHING = {
    "attribute": "def answer(x): return x.net",
    "parameter": "def answer(net): return net",
    "local": "def answer():\n    net = 1\n    return net",
    "comprehension's": "def answer(): return [net for net in range(2)]",
    "class body's": "def answer():\n    class A:\n        net = 1\n        f = net\n    return A",
    "set itself": "def answer():\n    global net\n    net = 1\n    return net",
    "string": "def answer(): return 'net'",
    "annotation as text": "def answer(x: 'net'): return x",
    "keyword": "def answer(): return dict(net=1)",
    "library": "answer = torch.nn.Linear",
    "builtin": "answer = max",
    "number": "answer = 3",
}


def names(text: str) -> set[str]:
    """Return the names that the answer in this text reaches."""
    namespace: dict[str, Any] = {"__name__": "__main__"}
    exec(START + text, namespace)
    return set(transitive_names(namespace["answer"], namespace))


@pytest.mark.parametrize("text", REACHING.values(), ids=REACHING)
def test_an_answer_reaches(text: str) -> None:
    """An answer reaches the names in all code that it holds."""
    assert "net" in names(text)


@pytest.mark.parametrize("text", NOT_REACHING.values(), ids=NOT_REACHING)
def test_an_answer_does_not_reach(text: str) -> None:
    """A name that is no global look-up is not reached."""
    assert "net" not in names(text)


def test_nothing_of_the_answer_is_run() -> None:
    """Finding the names runs no code of the answer."""

    class Trap:
        def __getattribute__(self, name: str) -> object:
            raise AssertionError(name)

    namespace: dict[str, Any] = {"__name__": "__main__", "trap": Trap()}
    exec("def answer(): return trap", namespace)

    assert set(transitive_names(namespace["answer"], namespace)) == {"trap"}


def test_a_circle_of_wrappers_ends() -> None:
    """A function that wraps itself causes no endless loop."""

    def loop() -> None: ...

    loop.__wrapped__ = loop  # type: ignore[attr-defined]

    assert undecorated(loop) is loop

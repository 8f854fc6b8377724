"""Probes that replace a function also reach answers that have bound it to their own names."""

import re
import sys
import textwrap
import time
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import torch

from autograder.course.answer_bank import load_bank
from autograder.course.chapter_judge import Judge
from autograder.course.course_location import bank_file
from autograder.diagnosis.judge_answer import judge as judged_on
from autograder.diagnosis.verdict import Report
from autograder.exercises.replace_attributes_temporarily import replace_attribute_in_answer
from tests.our_course import COURSE

# The ways in which an answer may refer to a function: a cell above it, and the call.
WAYS: dict[str, Callable[[str, str], tuple[str, str]]] = {
    "import": lambda owner, name: (f"import {_root(owner)}", f"{owner}.{name}"),
    "import as": lambda owner, name: (f"import {_root(owner)} as r", "r" + f"{owner}.{name}"[len(_root(owner)) :]),
    "from": lambda owner, name: (_bound(owner, name, name), name),
    "from as": lambda owner, name: (_bound(owner, name, "bound"), "bound"),
    "helper": lambda owner, name: (
        _bound(owner, name, "bound") + "\ndef helper(*args, **kwargs):\n    return bound(*args, **kwargs)",
        "helper",
    ),
    "decorated helper": lambda owner, name: (
        f"import functools\n{_bound(owner, name, 'bound')}\n@functools.wraps(bound)\n"
        "def helper(*args, **kwargs):\n    return bound(*args, **kwargs)",
        "helper",
    ),
    "class attribute": lambda owner, name: (
        f"import {_root(owner)}\nclass Own:\n    bound = staticmethod({owner}.{name})",
        "Own().bound",
    ),
    "default argument": lambda owner, name: (
        f"import {_root(owner)}\ndef getter(bound={owner}.{name}):\n    return bound",
        "getter()",
    ),
    "keyword-only default": lambda owner, name: (
        f"import {_root(owner)}\ndef getter(*, bound={owner}.{name}):\n    return bound",
        "getter()",
    ),
    "closure": lambda owner, name: (
        f"import {_root(owner)}\ndef maker():\n    bound = {owner}.{name}\n    return lambda: bound\ngetter = maker()",
        "getter()",
    ),
    "dict": lambda owner, name: (f"import {_root(owner)}\nbound = {{'f': {owner}.{name}}}", "bound['f']"),
    "list in a dict": lambda owner, name: (
        f"import {_root(owner)}\nbound = {{'f': [1, {owner}.{name}]}}",
        "bound['f'][-1]",
    ),
    "tuple": lambda owner, name: (f"import {_root(owner)}\nbound = (1, {owner}.{name})", "bound[-1]"),
    "partial": lambda owner, name: (
        f"import {_root(owner)}, functools\nbound = functools.partial({owner}.{name})",
        "bound",
    ),
    "argument of a partial": lambda owner, name: (
        f"import {_root(owner)}, functools\ngetter = functools.partial(lambda bound: bound, {owner}.{name})",
        "getter()",
    ),
    "keyword of a partial": lambda owner, name: (
        f"import {_root(owner)}, functools\ngetter = functools.partial(lambda bound: bound, bound={owner}.{name})",
        "getter()",
    ),
    "dict of a class": lambda owner, name: (
        f"import {_root(owner)}\nclass Own:\n    bound = {{'f': {owner}.{name}}}",
        "Own.bound['f']",
    ),
    "attribute of an object": lambda owner, name: (
        f"import {_root(owner)}\nclass Own:\n    def __init__(self): self.bound = {owner}.{name}\nbound = Own()",
        "bound.bound",
    ),
    "namespace": lambda owner, name: (
        f"import {_root(owner)}, types\nbound = types.SimpleNamespace(f={owner}.{name})",
        "bound.f",
    ),
    "list as a default": lambda owner, name: (
        f"import {_root(owner)}\ndef getter(bound=[{owner}.{name}]):\n    return bound[0]",
        "getter()",
    ),
    "dict in a closure": lambda owner, name: (
        f"import {_root(owner)}\ndef maker():\n    bound = dict(f={owner}.{name})\n    return lambda: bound['f']\n"
        "getter = maker()",
        "getter()",
    ),
}


def _root(owner: str) -> str:
    return owner.split(".")[0]


def _bound(owner: str, name: str, to: str) -> str:
    """Return a line that binds a function of a module, or of a class in one, to a name."""
    if owner == "torch.Tensor":
        return f"from torch import Tensor\n{to} = Tensor.{name}"
    return f"from {owner} import {name} as {to}"


def _of_the_bank(exercise: str, tag: str) -> str:
    """Return the source of a known answer."""
    bank = load_bank(bank_file(COURSE.folder, COURSE.find(exercise).chapter, exercise))
    return next(known.source for known in bank if known.tag == tag)


BENCH = """
def bench(fn, warmup, iters, sync):
    for _ in range(warmup):
        fn()
    times = []
    for _ in range(iters):
        sync()
        begin = {0}()
        fn()
        sync()
        times.append({0}() - begin)
    return statistics.median(times)
"""
BENCH_BY_TIMEIT = """
def bench(fn, warmup, iters, sync):
    for _ in range(warmup):
        fn()
    sync()
    return statistics.median({0}(lambda: (fn(), sync()), number=1, repeat=iters))
"""
PICK = """
def pick_device(prefer=None):
    if prefer is not None:
        return torch.device(prefer)
    if {0}():
        return torch.device("cuda")
    return torch.device("mps" if {1}() else "cpu")
"""
BATCH = """
def make_batch(n, d, *, dtype=torch.float32, seed=0):
    return {0}(n, d, dtype=dtype, generator=torch.Generator().manual_seed(seed))
"""
SEEDED = """
def make_batch(n, d, *, dtype=torch.float32, seed=0):
    before = torch.get_rng_state()
    {0}(seed)
    x = torch.randn(n, d, dtype=dtype)
    {1}(before)
    return x
"""
STEP = """
def train_step_on(device, model, optimizer, criterion, x_batch, y_batch):
    x, y = x_batch.to(device), y_batch.to(device)
    optimizer.zero_grad()
    loss = criterion(model(x), y)
    loss.backward()
    optimizer.step()
    return loss.detach()
"""
REGION = """
def mixed_region(block):
    def safe(x):
        with {0}(x.device.type, enabled=False):
            return block(x.float())

    return safe
"""
LAYERS = """
class MLP(torch.nn.Module):
    def __init__(self, sizes, activation):
        super().__init__()
        parts = []
        for before, after in zip(sizes, sizes[1:]):
            parts += [{0}(before, after), activation()]
        self.parts = torch.nn.Sequential(*parts[:-1])

    def forward(self, x):
        return self.parts(x)
"""
MPS = ("torch.backends.mps", "is_available")
BENCHED = ("ch05c_time_and_memory", BENCH)
PICKED = ("ch05a_devices", PICK)
STEPPED = ("ch05a_devices", STEP)
ITEM = ("torch.Tensor", "item")
# Chapter, answer, the functions that it refers to, and whether it is right.
ANSWERS: dict[str, tuple[str, str, list[tuple[str, str]], bool]] = {
    "bench, perf_counter": (*BENCHED, [("time", "perf_counter")], True),
    "bench, monotonic": (*BENCHED, [("time", "monotonic")], True),
    "bench, default_timer": (*BENCHED, [("timeit", "default_timer")], True),
    "bench, timeit": ("ch05c_time_and_memory", BENCH_BY_TIMEIT, [("timeit", "repeat")], True),
    "bench, of the process": (*BENCHED, [("time", "process_time")], False),
    "bench, no sync": (
        "ch05c_time_and_memory",
        BENCH.replace("        sync()\n", ""),
        [("time", "perf_counter")],
        False,
    ),
    "bench, the wall": (*BENCHED, [("time", "time")], False),
    "pick_device": (*PICKED, [("torch.cuda", "is_available"), MPS], True),
    "pick_device, mps first": (
        "ch05a_devices",
        PICK.replace('"cuda"', '"-"').replace('"mps"', '"cuda"').replace('"-"', '"mps"'),
        [MPS, ("torch.cuda", "is_available")],
        False,
    ),
    "make_batch": ("ch01b_broadcasting", BATCH, [("torch", "randn")], True),
    "make_batch, puts the state back": (
        "ch01b_broadcasting",
        SEEDED,
        [("torch", "manual_seed"), ("torch.random", "set_rng_state")],
        False,
    ),
    "train_step_on": ("ch05a_devices", STEP.replace("loss.detach()", "{0}(loss)"), [("torch.Tensor", "detach")], True),
    **{
        f"train_step_on, {name}": (
            "ch05a_devices",
            STEP.replace("    return", "    {0}(loss.detach())\n    return"),
            [("torch.Tensor", name)],
            False,
        )
        for name in ("item", "tolist", "numpy", "__repr__")
    },
    "make_agnostic": ("ch05a_devices", _of_the_bank("make_agnostic", "moved-like-x"), [ITEM], True),
    "make_agnostic, item": (
        "ch05a_devices",
        _of_the_bank("make_agnostic", "item-in-the-loop").replace("loss.item()", "{0}(loss)"),
        [ITEM],
        False,
    ),
    "mixed_region": ("ch05b_mixed_precision", REGION, [("torch", "autocast")], True),
    "mixed_region, left on": (
        "ch05b_mixed_precision",
        REGION.replace("x.device.type, enabled=False", "'xpu', enabled=False"),
        [("torch", "autocast")],
        False,
    ),
    "MLP": ("ch03b_layers", LAYERS, [("torch.nn", "Linear")], True),
    "MLP, one more activation": (
        "ch03b_layers",
        LAYERS.replace("[:-1])", ")"),
        [("torch.nn", "Linear")],
        False,
    ),
}


@cache
def judge_of(stem: str, name: str) -> Judge:
    """Return the judge of one exercise."""
    return Judge(COURSE.folder, stem, only=name)


@cache
def judged(answer: str, way: str) -> tuple[Report, bool]:
    """Return the report on an answer that refers to functions in this way, and whether all names are restored."""
    stem, text, reached, _ = ANSWERS[answer]
    name = answer.split(",")[0]
    judge, cells, calls = judge_of(stem, name), list[str](), list[str]()
    for place, path in enumerate(reached):
        cell, call = WAYS[way](*path)
        for word in ("bound", "helper", "getter", "maker", "Own"):  # distinct names for distinct functions
            cell, call = cell.replace(word, f"{word}{place}"), call.replace(word, f"{word}{place}")
        if path[1] == call and place:
            cell, call = cell.replace(f" as {call}", f" as {call}_"), f"{call}_"
        cells.append(cell)
        calls.append(call)
    for place, call in enumerate(calls):
        text = text.replace(f"{{{place}}}", call)
    namespace: dict[str, Any] = {"__name__": "cells"}
    source = "\n".join([*cells, text])
    for cell in (judge.chapter.prelude, *cells, text):
        exec(cell, namespace)
    before = _bindings(namespace)
    seen = judge.exercises[name].observe(namespace[name], judge.keys.cases(name, 0))
    return judged_on(judge.exercises[name], judge.keys.reference_key(name, 0), seen, source), before == _bindings(
        namespace
    )


def _bindings(namespace: dict[str, Any]) -> list[Any]:
    """Return the ids of all objects that the cells' names refer to, also in classes, defaults and closures."""
    values = [value for name, value in namespace.items() if name not in ("__builtins__",)]
    own = [value for value in values if getattr(value, "__module__", "") == "cells"]
    held = [part for value in own if isinstance(value, type) for part in vars(value).values()]
    held += [part for value in own for part in getattr(value, "__defaults__", None) or ()]
    held += [part for value in own for part in (getattr(value, "__kwdefaults__", None) or {}).values()]
    held += [cell.cell_contents for value in own for cell in getattr(value, "__closure__", None) or ()]
    values = [part for value in values for part in (value if isinstance(value, tuple) else (value,))]
    return [*map(id, values), *[id(getattr(part, "__func__", part)) for part in held]]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("answer", ANSWERS)
@pytest.mark.night
def test_a_probe_replaces_a_function_by_whichever_name_it_is_reached(answer: str, way: str) -> None:
    """The report is the same for every way of referring to the function, and all names are restored."""
    report, restored = judged(answer, way)

    expected, right = judged(answer, "import")[0], ANSWERS[answer][-1]
    assert (right, True) == (report.passed, restored)
    assert [(each.status, each.sentence) for each in expected.verdicts] == [
        (each.status, each.sentence) for each in report.verdicts
    ]


CELL = textwrap.dedent(
    """
    from torch import manual_seed
    kept = {}

    def answer(error):
        global later
        from torch import manual_seed as later
        kept["seen"], kept["id"] = manual_seed, id(manual_seed)
        raise error
    """
)


@pytest.mark.parametrize("error", [ValueError(), KeyboardInterrupt(), SystemExit()])
def test_names_are_put_back_however_a_block_is_left(error: BaseException) -> None:
    """Names are restored after any error, including those that the answer bound within the block."""
    usual, namespace = torch.manual_seed, dict[str, Any]()
    exec(CELL, namespace)
    with (
        pytest.raises(type(error)),
        replace_attribute_in_answer(namespace["answer"], torch, "manual_seed", lambda seed: None),
    ):
        namespace["answer"](error)

    assert id(usual) != namespace["kept"]["id"]
    assert usual is torch.manual_seed is namespace["manual_seed"] is namespace["later"] is namespace["kept"]["seen"]


def test_a_builtin_as_a_class_attribute_takes_no_self() -> None:
    """A builtin that is a class attribute is called without the instance, replaced or not."""
    namespace: dict[str, Any] = {"__name__": "cells"}
    exec("import time\nclass Own:\n    now = time.perf_counter\ndef answer(): return Own().now()", namespace)
    with replace_attribute_in_answer(namespace["answer"], time, "perf_counter", lambda: 3.0):
        assert 3.0 == namespace["answer"]()

    assert time.perf_counter is namespace["Own"].now


@pytest.mark.parametrize("reached", ["from clock_of_mine import now", "import clock_of_mine\nnow = clock_of_mine.now"])
def test_a_module_of_ones_own_is_reached(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, reached: str) -> None:
    """A helper module's own name for the function is replaced."""
    (tmp_path / "clock_of_mine.py").write_text("from time import perf_counter\ndef now():\n    return perf_counter()\n")
    monkeypatch.syspath_prepend(tmp_path)
    namespace: dict[str, Any] = {"__name__": "__main__"}
    exec(f"{reached}\ndef answer():\n    return now()", namespace)
    with replace_attribute_in_answer(namespace["answer"], time, "perf_counter", lambda: 3.0):
        assert 3.0 == namespace["answer"]()

    assert time.perf_counter is sys.modules.pop("clock_of_mine").perf_counter
    assert namespace["answer"]() != 3.0


def test_what_holds_data_is_left_alone() -> None:
    """Long lists are not searched, and special methods of an answer's objects are not called."""
    namespace: dict[str, Any] = {"__name__": "cells"}
    cell = "import time\nclass Odd(list):\n    def __iter__(self):\n        raise ValueError\n"
    exec(
        f"{cell}long, odd = [time.sleep] * 2000, Odd([time.sleep])\ndef answer():\n    return odd[0], long[0]",
        namespace,
    )
    with replace_attribute_in_answer(namespace["answer"], time, "sleep", lambda _: None):
        own, kept = namespace["answer"]()
        assert kept is not time.sleep is own

    assert [time.sleep, time.sleep] == [*namespace["answer"]()]


@pytest.mark.parametrize("folder", ["exercises", "../autograder/exercises/probes"])
def test_probes_replace_in_one_way(folder: str) -> None:
    """All probes replace attributes through the function that also rebinds an answer's names."""
    files = (COURSE.folder / folder).rglob("*.py")

    assert [] == [path.name for path in files if re.search(r"import replaced$", path.read_text("utf-8"), re.MULTILINE)]

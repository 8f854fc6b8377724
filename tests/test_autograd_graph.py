"""The data of the autograd stepper: a tensor's real graph, and the gradients that `backward()` computes."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor, nn

from explorers.autograd_graph_data import Graph, Node, read_graph
from explorers.group_graph_steps_by_module import group_nodes_into_rows
from explorers.tensor_values_as_plain_data import TensorDescription
from explorers.traverse_autograd_graph import MOST_NODES, trace_autograd_graph

Pool = list[Tensor]


class Cube(torch.autograd.Function):
    """A step with a custom backward rule."""

    @staticmethod
    def forward(ctx: Any, x: Tensor) -> Tensor:
        """Return x to the power of 3."""
        ctx.save_for_backward(x)
        return x**3

    @staticmethod
    def backward(ctx: Any, grad_out: Tensor) -> Tensor:
        """Return 3 * x ** 2 times the incoming gradient."""
        (x,) = ctx.saved_tensors
        return grad_out * 3 * x**2


class OneUsed(torch.autograd.Function):
    """Two operands, two results; the second operand gets no gradient."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
        """Return twice x, and a copy of y."""
        ctx.set_materialize_grads(False)
        return x * 2, y.clone()

    @staticmethod
    def backward(ctx: Any, *grads: Tensor | None) -> tuple[Tensor | None, None]:
        """Return twice the gradient for x, and None for y."""
        return None if grads[0] is None else grads[0] * 2, None


def without_record(x: Tensor) -> Tensor:
    """Return a result without a graph."""
    with torch.no_grad():
        return x * 2


def hooked(x: Tensor) -> Tensor:
    """Return a result whose hook triples the gradient."""
    y = x + 0.5
    if y.requires_grad:
        y.register_hook(lambda grad: 3 * grad)  # raises if the gradient is None
    return y


def retained(x: Tensor) -> Tensor:
    """Return a result that retains its gradient."""
    y = x * 0.5
    if y.requires_grad:
        y.retain_grad()
    return y


def changed_through_a_view(x: Tensor) -> Tensor:
    """Return a result whose first column was changed in place through a view."""
    y = x * 1.5
    y[:, 0].mul_(2)
    return y


def changed_after(f: Callable[[Tensor], Tensor]) -> Callable[[Tensor], Tensor]:
    """Return a step whose result is then changed in place, which some steps have saved."""
    return lambda x: f(x).add_(1)


ONE = (  # operations that keep the shape (2, 3)
    torch.sin,
    torch.exp,
    lambda x: x.T.reshape(2, 3),
    lambda x: x[:1].expand(2, 3),
    lambda x: x.reshape(6)[torch.tensor([0, 1, 1, 5, 2, 2])].view(2, 3),
    lambda x: x.max(dim=0).values + x,
    lambda x: x + x.split(2, dim=1)[0].sum() * x.unbind()[1],
    lambda x: torch.stack([x[0], x[0]]),
    torch.Tensor.detach,
    without_record,
    hooked,
    retained,
    changed_through_a_view,
    changed_after(torch.sin),
    changed_after(torch.exp),
    Cube.apply,
    lambda x: torch.view_as_real(torch.view_as_complex(torch.stack([x, x], -1)) * (1 + 2j)).sum(-1),
    lambda x: x.to(torch.float32).to(torch.float64),
    torch.round,
)
TWO = (
    torch.add,
    torch.mul,
    lambda a, b: a - b[0],
    lambda a, b: a * b.sum(1, keepdim=True),
    lambda a, b: a @ b.T @ a,
    lambda a, b: torch.cat([a, b])[1:3],
    lambda a, b: torch.where(a > b, a, b),
    lambda a, b: OneUsed.apply(a, b)[0],
    lambda a, b: sum(OneUsed.apply(a, b)),
)


@pytest.fixture(autouse=True, scope="module")
def _few_objects() -> Iterator[None]:
    """Hide older objects from the garbage collector, since reading a graph searches all of them."""
    gc.collect()
    gc.freeze()
    yield
    gc.unfreeze()


@st.composite
def programs(draw: st.DrawFn) -> Callable[[], tuple[Pool, Tensor]]:
    """Draw a random program on two or three leaves; calling it returns all its tensors and its result."""
    leaves = draw(st.integers(2, 3))
    steps = []
    for number in range(draw(st.integers(1, 9))):
        picked = st.integers(0, leaves + number - 1)
        steps.append(
            draw(st.one_of(st.tuples(st.sampled_from(ONE), picked), st.tuples(st.sampled_from(TWO), picked, picked)))
        )
    old = draw(st.lists(st.booleans(), min_size=leaves, max_size=leaves))

    def run() -> tuple[Pool, Tensor]:
        numbers = torch.arange(6.0, dtype=torch.float64).view(2, 3) / 4 - 0.6
        pool = [(numbers + number / 8).requires_grad_() for number in range(leaves)]
        for leaf, has_grad in zip(pool, old, strict=True):
            leaf.grad = torch.full_like(leaf, 100) if has_grad else None
        for step, *operands in steps:
            pool.append(step(*(pool[operand] for operand in operands)))
        return pool, sum(each.sum() for each in pool[-3:])

    return run


def torchs_own(result: Tensor) -> tuple[list[Any], dict[Any, Any], str]:
    """Return the order of nodes, the gradients that arrived and left, and the error, of a real `backward()`."""
    order, seen, error = [], {}, ""
    for node in trace_autograd_graph(result).nodes:
        node.register_prehook(lambda grads, node=node: order.append(node))
        node.register_hook(lambda sent, arrived, node=node: seen.__setitem__(node, (arrived, sent)))
    try:
        result.backward()
    except Exception as refusal:
        error = f"{type(refusal).__name__}: {refusal}"
    return order, seen, error


def listed(values: TensorDescription | None) -> Any:
    """Return the numbers of recorded values, or None."""
    return None if values is None else values.numbers


def numbers(grad: Tensor | None) -> Any:
    """Return the numbers of a tensor, or None."""
    return None if grad is None else grad.tolist()


def same(a: Any, b: Any) -> bool:
    """Return whether two values are equal bit for bit: nan equals nan, and -0.0 differs from 0.0."""
    return repr(a) == repr(b)


@settings(deadline=None, max_examples=120)
@given(program=programs())
@pytest.mark.night
def test_gradients_are_those_of_backward(program: Callable[[], tuple[Pool, Tensor]]) -> None:
    """The recorded gradients equal those of a real backward, bit for bit, at each node and leaf."""
    pool, result = program()
    if not result.requires_grad:
        return
    graph, nodes = read_graph(result, dict(zip("xyz", pool, strict=False))), trace_autograd_graph(result).nodes
    order, seen, error = torchs_own(result)

    assert graph.error == error
    if not error:
        assert [node for node in order if not hasattr(node, "variable")] == [
            nodes[at] for at in graph.backward if not graph.nodes[at].is_leaf
        ]
    for live, node in zip(nodes, graph.nodes, strict=True):
        if live in seen and not node.is_leaf:
            assert node.passage
            for real, shown in zip(seen[live], (node.passage.arrived, node.passage.sent), strict=True):
                assert same([*map(numbers, real)], [*map(listed, shown)])
        if node.added:
            assert same(listed(node.added.after), numbers(live.variable.grad))


@settings(deadline=None, max_examples=60)
@given(program=programs())
def test_what_is_sent_adds_up_to_what_arrives(program: Callable[[], tuple[Pool, Tensor]]) -> None:
    """At each result, the gradients sent there sum to the one that arrives, unless a hook is reported.

    Torch may add in another order, so the sum is compared within the rounding of its terms; terms that are not finite,
    or whose sum overflows, are not compared.
    """
    _, result = program()
    if not result.requires_grad or (graph := read_graph(result)).error:
        return
    sent: dict[Any, list[Any]] = {graph.root: [np.ones(())]}
    for node in graph.nodes:
        for place, values in zip(node.operands, node.passage.sent if node.passage else (), strict=False):
            if place and values:
                sent.setdefault(place, []).append(np.array(values.numbers))
    for at, node in enumerate(graph.nodes):
        for slot, arrived in enumerate(node.passage.arrived if node.passage else ()):
            if arrived and not (node.passage and slot in node.passage.hooked):
                with np.errstate(over="ignore", invalid="ignore"):
                    total, size = sum(sent[at, slot]), sum(map(np.abs, sent[at, slot]))
                    off = np.abs(total - arrived.numbers)
                assert np.all((off <= 1e-9 * size) | ~np.isfinite(size))


@settings(deadline=None, max_examples=60)
@given(program=programs())
def test_nothing_of_the_readers_changes(program: Callable[[], tuple[Pool, Tensor]]) -> None:
    """Reading a graph changes no values, versions, flags, `.grad` or random state."""
    gc.freeze()  # so that `alive` does not search older objects
    pool, result = program()
    before = [(each, each._version, each.requires_grad, each.tolist()) for each in alive()]
    grads = [(each, each.grad, numbers(each.grad)) for each in alive() if each.is_leaf or each.retains_grad]
    drawn = torch.get_rng_state()
    read_graph(result, dict(zip("xyz", pool, strict=False)))

    assert all(same([each._version, each.requires_grad, each.tolist()], was) for each, *was in before)
    assert all(each.grad is grad and same(numbers(each.grad), values) for each, grad, values in grads)
    assert torch.equal(drawn, torch.get_rng_state())


def alive() -> list[Tensor]:
    """Return the tensors of this test, which are the only ones in float64."""
    return [each for each in gc.get_objects() if type(each) is Tensor and each.dtype == torch.float64]


@settings(deadline=None, max_examples=40)
@given(program=programs())
def test_the_graph_can_be_read_again(program: Callable[[], tuple[Pool, Tensor]]) -> None:
    """Reading a graph twice gives equal results: it frees nothing and leaves no hook."""
    _, result = program()

    assert read_graph(result) == read_graph(result)


def named(graph: Graph, operation: str) -> Node:
    """Return the only node of an operation."""
    (found,) = (node for node in graph.nodes if node.operation == operation)
    return found


def leaf(graph: Graph, name: str) -> Node:
    """Return the node of a leaf."""
    (found,) = (node for node in graph.nodes if node.is_leaf and node.results[0].name == name)
    return found


def worked() -> tuple[dict[str, Tensor], Tensor]:
    """Return the leaves and the result of chapter 2's example: ((x * y) + x) ** 2 at 2 and 3."""
    x, y = (torch.tensor(value, requires_grad=True) for value in (2.0, 3.0))
    return {"x": x, "y": y}, (x * y + x) ** 2


class TestWhatIsShown:
    """Single facts about small graphs."""

    def test_worked_example(self) -> None:
        """The forward values and the gradients are those of the example in chapter 2."""
        names, loss = worked()
        graph = read_graph(loss, names)

        assert [node.operation for node in graph.nodes] == ["AccumulateGrad", "AccumulateGrad", "Mul", "Add", "Pow"]
        assert [listed(node.results[0].values) for node in graph.nodes] == [2.0, 3.0, None, 8.0, 64.0]
        assert named(graph, "Add").results[0].source == "saved by step 5 as self"
        sent = named(graph, "Mul").passage
        assert sent and [each and each.numbers for each in sent.sent] == [48.0, 32.0]
        added = leaf(graph, "x").added
        assert added and (added.before, listed(added.incoming), listed(added.after)) == (None, 64.0, 64.0)

    def test_named_results_are_known(self) -> None:
        """A result that no step saved has values if the reader passes the tensor by name."""
        names, _ = worked()
        product = names["x"] * names["y"]
        graph = read_graph(product + 1, {**names, "product": product})

        result = named(graph, "Mul").results[0]
        assert (result.name, listed(result.values), result.source) == ("product", 6.0, "what product holds now")

    def test_saved_tensors_say_whose_they_are(self) -> None:
        """A saved tensor names the step, leaf or named tensor that it comes from; settings are text."""
        x = torch.ones(2, requires_grad=True)
        data = torch.arange(2.0)
        graph = read_graph((((x * data).exp() * x) ** 3).sum(), {"x": x, "data": data})

        of = {(node.operation, each.name): each.of for node in graph.nodes for each in node.saved}
        operations = [node.operation for node in graph.nodes]
        exp, power = operations.index("Exp"), operations.index("Pow")
        assert of["Exp", "result"] == (exp, 0) and of["Pow", "self"] == (power - 1, 0)
        assert [each.of for each in graph.nodes[exp - 1].saved] == ["data"]
        assert [each.setting for each in graph.nodes[power].saved if each.name == "exponent"] == ["3"]

    def test_changed_in_place(self) -> None:
        """A tensor changed in place has both versions and torch's error, and the pass stops at its step."""
        x = torch.ones(1, requires_grad=True)
        y = x.exp()
        out = y * 3
        y.add_(1)
        y.mul_(2)
        graph = read_graph(out.sum(), {"x": x})
        with pytest.raises(RuntimeError) as refusal:
            out.sum().backward()

        (saved,) = named(graph, "Exp").saved
        assert (saved.then, saved.now, saved.values) == (0, 2, None)
        assert saved.error == graph.error == f"RuntimeError: {refusal.value}"
        assert named(graph, "Mul").passage and leaf(graph, "x").passage is None
        passage = named(graph, "Exp").passage
        assert passage and listed(passage.arrived[0]) == [3.0] and passage.sent == ()

    def test_freed_graph(self) -> None:
        """After backward, the nodes remain, and their saved tensors carry torch's error."""
        names, loss = worked()
        loss.backward()
        graph = read_graph(loss, names)

        assert len(graph.nodes) == 5 and "a second time" in graph.error
        assert {each.error for each in named(graph, "Mul").saved} == {graph.error}
        assert listed(graph.nodes[-1].results[0].values) == 64.0

    def test_a_sum_survives_backward(self) -> None:
        """A freed graph without saved tensors can be walked again, and `.grad` would grow."""
        x = torch.tensor(2.0, requires_grad=True)
        y = x + x
        y.backward()
        added = leaf(read_graph(y, {"x": x}), "x").added

        assert added and (listed(added.before), listed(added.after)) == (2.0, 4.0)

    def test_untracked(self) -> None:
        """A tensor without a graph gives no nodes, torch's error, and a note."""
        graph = read_graph(torch.ones(()))

        assert graph.nodes == () and "does not require grad" in graph.error and graph.note

    def test_a_leaf_by_itself(self) -> None:
        """The graph of a leaf is one node with the gradient 1."""
        x = torch.tensor(2.0, requires_grad=True)
        (node,) = read_graph(x, {"x": x}).nodes

        assert node.is_leaf and node.added and listed(node.added.after) == 1.0

    def test_several_elements_need_a_gradient(self) -> None:
        """Without `gradient` the graph has torch's error; with it, the gradients of `backward(gradient)`."""
        x = torch.ones(3, requires_grad=True)
        weights = torch.tensor([1.0, 1.0, 10.0])

        assert "only for scalar outputs" in read_graph(x * 2).error
        added = leaf(read_graph(x * 2, {"x": x}, weights), "x").added
        assert added and listed(added.after) == [2.0, 2.0, 20.0]

    def test_broadcasting(self) -> None:
        """The gradient of a stretched operand has the operand's shape."""
        x, row = torch.ones(4, 3, requires_grad=True), torch.ones(3, requires_grad=True)
        passage = named(read_graph((x + row).sum(), {"row": row}), "Add").passage

        assert passage and listed(passage.sent[1]) == [4.0, 4.0, 4.0]

    def test_no_gradient_is_no_zero(self) -> None:
        """If a rule returns None for an operand, its leaf's `.grad` does not change."""
        x, y = torch.ones(2, requires_grad=True), torch.ones(2, requires_grad=True)
        y.grad = torch.full((2,), 5.0)
        added = leaf(read_graph(sum(OneUsed.apply(x, y)).sum(), {"y": y}), "y").added

        assert added and added.incoming is None and listed(added.after) == [5.0, 5.0]

    def test_flag_switched_off(self) -> None:
        """A leaf that no longer requires grad gets no gradient, as with backward."""
        x, y = torch.tensor(2.0, requires_grad=True), torch.tensor(3.0, requires_grad=True)
        product = x * y
        x.requires_grad_(False)
        added = leaf(read_graph(product, {"x": x}), "x").added
        product.backward()

        assert added and not added.tracked and added.after is None and x.grad is None

    def test_hooks(self) -> None:
        """A tensor hook runs once and is reported; a post-accumulate hook does not run."""
        x = torch.tensor(2.0, requires_grad=True)
        y, ran, waited = x * 3, [], []
        y.register_hook(lambda grad: (ran.append(grad.item()), grad * 10)[1])
        x.register_post_accumulate_grad_hook(waited.append)
        graph = read_graph(y * 2, {"x": x})

        passages = [node.passage for node in graph.nodes if node.operation == "Mul"]
        assert [passage and passage.hooked for passage in passages] == [(0,), ()] and graph.note
        assert (ran, waited) == ([2.0], []) and listed(leaf(graph, "x").added.after) == 60.0  # type: ignore[union-attr]

    def test_no_hook_is_left(self) -> None:
        """After reading, the recording hooks are gone although the graph still exists."""
        names, loss = worked()
        graph = read_graph(loss, names)

        assert graph.nodes and loss.grad_fn
        assert not [each for each in gc.get_objects() if type(each).__name__ == "_Notes"]

    def test_retained_gradients(self) -> None:
        """A retained gradient is the same tensor object after reading."""
        x = torch.tensor(2.0, requires_grad=True)
        h = x * 3
        h.retain_grad()
        (h**2).backward(retain_graph=True)
        kept = h.grad
        read_graph(h**2, {"x": x})

        assert h.grad is kept and numbers(kept) == 12.0

    def test_a_rule_that_fails(self) -> None:
        """An error in a custom backward rule appears unchanged."""

        class Broken(torch.autograd.Function):
            @staticmethod
            def forward(ctx: Any, x: Tensor) -> Tensor:
                return x * 2

            @staticmethod
            def backward(ctx: Any, grad_out: Tensor) -> Tensor:
                raise KeyError("mask")

        assert read_graph(Broken.apply(torch.ones((), requires_grad=True))).error == "KeyError: 'mask'"

    def test_many_numbers_become_a_range(self) -> None:
        """A large tensor is described by its shape and its range."""
        x = torch.linspace(-1, 1, 100).requires_grad_()
        values = read_graph(x.sum(), {"x": x}).nodes[0].results[0].values

        assert values and (values.shape, values.numbers, values.least, values.greatest) == ((100,), None, -1.0, 1.0)

    def test_a_sparse_gradient(self) -> None:
        """A sparse gradient has values like any other."""
        table = nn.Embedding(3, 2, sparse=True)
        added = leaf(read_graph(table(torch.tensor([2, 2])).sum(), dict(table.named_parameters())), "weight").added

        assert added and listed(added.after) == [[0.0, 0.0], [0.0, 0.0], [2.0, 2.0]]

    def test_packed_tensors(self) -> None:
        """Tensors packed by `saved_tensors_hooks` are unpacked, as in backward."""
        x = torch.tensor(2.0, requires_grad=True)
        with torch.autograd.graph.saved_tensors_hooks(lambda each: each.item(), torch.tensor):
            graph = read_graph(x**2, {"x": x})

        assert [listed(each.values) for each in graph.nodes[-1].saved] == [None, 2.0]

    def test_too_many_nodes(self) -> None:
        """A graph beyond the limit is not read, and the note gives the limit."""
        x = torch.ones((), requires_grad=True)
        for _ in range(MOST_NODES + 1):
            x = x + 1

        assert read_graph(x).nodes == () and f"{MOST_NODES:,}" in read_graph(x).note


class Block(nn.Module):
    """Layers in a row with a residual connection."""

    def __init__(self) -> None:
        super().__init__()
        self.norm, self.first, self.second = nn.LayerNorm(8), nn.Linear(8, 8), nn.Linear(8, 8, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        """Return x plus the output of the layers."""
        return x + self.second(torch.relu(self.first(self.norm(x))))


def of_model(model: nn.Module, x: Tensor) -> Graph:
    """Return the graph of a loss of a model."""
    return read_graph(model(x).pow(2).mean(), dict(model.named_parameters(remove_duplicate=False)))


def steps(graph: Graph, module: str) -> list[str]:
    """Return the operations of a module's steps."""
    return [graph.nodes[at].operation for at in graph.modules.folds[module] if not graph.nodes[at].is_leaf]


class TestModules:
    """The steps that belong to each module."""

    def test_a_layer_is_what_uses_its_parameters(self) -> None:
        """A layer has the steps that use its parameters, even through a transpose; ReLU has no row."""
        graph = of_model(nn.Sequential(nn.Linear(3, 4, bias=False), nn.ReLU(), nn.Linear(4, 1)), torch.ones(2, 3))

        assert steps(graph, "0") == ["T", "Mm"] and steps(graph, "2") == ["T", "Addmm"]
        assert set(graph.modules.folds) == {"0", "2"}

    def test_modules_in_modules(self) -> None:
        """A module has the steps of its submodules and those between them."""
        graph = of_model(nn.Sequential(Block(), Block()), torch.ones(2, 8))

        assert steps(graph, "0") == ["NativeLayerNorm", "T", "Addmm", "Relu", "T", "Mm"]
        assert steps(graph, "1.norm") == ["NativeLayerNorm"]

    def test_a_module_used_twice(self) -> None:
        """A module with another one between its two uses cannot be folded, and the reason says so."""
        model = nn.ModuleDict({"a": nn.Linear(2, 2), "b": nn.Linear(2, 2)})
        out = model["a"](model["b"](model["a"](torch.ones(1, 2))))
        modules = read_graph(out.sum(), dict(model.named_parameters())).modules

        assert set(modules.folds) == {"b"} and modules.refused == {"a": "steps of b lie between its own"}

    def test_a_shared_parameter_counts_for_nobody(self) -> None:
        """A parameter of two modules belongs to neither, so the steps between are not folded together."""
        model = nn.Sequential(nn.Embedding(5, 3), nn.Linear(3, 4), nn.Linear(4, 3), nn.Linear(3, 5, bias=False))
        model[3].weight = model[0].weight
        graph = of_model(model, torch.tensor([1, 2]))

        assert set(graph.modules.folds) == {"1", "2"} and not graph.modules.refused
        assert leaf(graph, "0.weight = 3.weight").added

    @settings(deadline=None, max_examples=50)
    @given(unfolded=st.sets(st.sampled_from(["0", "1", "2", "0.norm", "1.first", "2.second"])))
    def test_rows_come_after_what_they_are_made_from(self, unfolded: set[str]) -> None:
        """With any folding, each node is in one row, and each row follows those it is made from."""
        graph = of_model(nn.Sequential(Block(), Block(), Block()), torch.ones(2, 8))
        rows = group_nodes_into_rows(graph.links, graph.modules.folds, unfolded)

        turn = {node: number for number, row in enumerate(rows) for node in row.nodes}
        assert sorted(turn) == list(range(len(graph.nodes))) == sorted(node for row in rows for node in row.nodes)
        assert all(turn[place[0]] <= turn[node] for node, places in enumerate(graph.links) for place in places if place)

    def test_two_modules_that_wait_for_each_other(self) -> None:
        """If two modules each need a part of the other first, one of them is unfolded."""
        a, b = (nn.ParameterDict({"p": torch.ones(()), "q": torch.ones(())}) for _ in "ab")
        start, other = a["p"] * 2, b["p"] * 3
        graph = read_graph(
            start * b["q"] + other * a["q"], {"a.p": a["p"], "a.q": a["q"], "b.p": b["p"], "b.q": b["q"]}
        )

        assert set(graph.modules.folds) == {"a", "b"}
        assert [row.module for row in group_nodes_into_rows(graph.links, graph.modules.folds, ()) if row.module] == [
            "b"
        ]

    def test_a_thousand_nodes(self) -> None:
        """A graph of more than a thousand nodes takes less than three seconds of computing."""
        model = nn.Sequential(*(Block() for _ in range(100)))
        began = time.process_time()
        graph = of_model(model, torch.ones(2, 8))

        assert len(graph.nodes) > 1000 and not graph.error
        assert time.process_time() - began < 3
        assert len(group_nodes_into_rows(graph.links, graph.modules.folds, ())) < 250

"""The exercises of chapter 3 that ask for a class of layers, and the bug hunt among them."""

from __future__ import annotations

from collections.abc import Iterator

from autograder.watching.draw import Draw
from autograder.watching.exercise import Case, ExerciseSet
from autograder.watching.probe import in_part
from autograder.watching.rules import avoids

from . import _ch03_calls as calls
from . import _ch03_chance as chance
from . import _ch03_functions as functions
from . import _ch03_layers as layers
from ._ch03_hints import HINTS
from ._ch03_probes import ready_made

EXERCISES = ExerciseSet("ch03_modules")
ANY_AXES = "takes any axes in front"


_LAYERS = "has two linear layers, fc1 and fc2"
_RELU = "computes fc1, then relu, then fc2"


@EXERCISES.add(
    "TwoLayerMLP",
    tier="warm-up",
    hints=HINTS["TwoLayerMLP"],
    spelled=calls.made_and_called,
    probe=in_part(
        {_LAYERS: layers.parameter_names, _RELU: layers.computed, ANY_AXES: layers.computed},
        otherwise=layers.shape_of_result,
    ),
    rules=(
        avoids(
            "Sequential",
            requirement="does without nn.Sequential",
            sentence="You use nn.Sequential. Here you write `forward` yourself.",
        ),
    ),
    tells={"parameters": "The names or shapes of the parameters are not those of two layers named fc1 and fc2."},
)
def two_layer_mlp(draw: Draw) -> Iterator[Case]:
    """Write a module with two layers."""
    a, hidden, b, n, m = draw.sizes(5, 2, 9)
    yield Case("turns (batch, in_features) into (batch, out_features)", a, hidden, b, x=draw.normal(n, a))
    yield Case(_LAYERS, a, hidden, b)
    yield Case(_RELU, a, hidden, b, x=draw.normal(n, a))
    yield Case(ANY_AXES, a, hidden, b, x=draw.normal(a))
    yield Case(ANY_AXES, a, hidden, b, x=draw.normal(n, m, a))


_BY_DEPTH, _ONCE = "counts the parameters of all submodules", "counts a parameter in several places once"
_TRAINABLE = "counts only what learns with trainable_only=True"
_NO_BUFFERS = "does not count buffers"


@EXERCISES.add(
    "count_params",
    tier="core",
    hints=HINTS["count_params"],
    spelled=calls.on_module,
    probe=in_part({"leaves the module as it was": functions.counting_leaves}, otherwise=functions.counted),
    tells={"left": "Your count is right, but the module is no longer as it was."},
)
def count_params(draw: Draw) -> Iterator[Case]:
    """Count what learns."""
    a, b, c = draw.sizes(3, 2, 9)
    yield Case("counts every number of a layer", "a linear layer", a, b)
    yield Case(_BY_DEPTH, "nested layers", a, b, c)
    yield Case(_BY_DEPTH, "a layer without parameters")
    yield Case(_ONCE, "two layers of one weight", a, b)
    yield Case(_ONCE, "one layer in two places", c)
    yield Case(_NO_BUFFERS, "layers with batch norm", a, b, c)
    yield Case(_TRAINABLE, "half frozen layers", a, b, c, trainable_only=True)
    yield Case(_TRAINABLE, "half frozen layers", b, c, a)
    yield Case("leaves the module as it was", "half frozen layers", a, b, c)


_REGISTERED = "registers weight and bias, so that they go along everywhere"
_UNBIASED = "works without a bias"
_START = "starts with uniform numbers in the right range"
_GRADIENTS = "lets gradients through to x, weight and bias"


@EXERCISES.add(
    "Linear",
    tier="core",
    hints=HINTS["Linear"],
    spelled=calls.made_and_called,
    probe=in_part(
        {
            _REGISTERED: layers.linear_registered,
            _UNBIASED: layers.linear_unbiased,
            _START: chance.linear_start,
            _GRADIENTS: layers.linear_gradients,
        },
        otherwise=layers.linear_values,
    ),
    rules=(
        ready_made(
            "Linear",
            "LazyLinear",
            "Bilinear",
            requirement="does without nn.Linear",
            sentence="You use nn.Linear. Here you make such a layer yourself, from nn.Parameter.",
        ),
    ),
    tells={
        "parameters": "The parameters of the module are not weight and bias, with shapes (out, in) and (out,).",
        "state_dict": "The state_dict is not that of a weight and a bias.",
        "leaves": "A parameter of your module is no leaf that learns.",
        "weight": "The numbers that weight starts with are not uniform between the two bounds.",
        "bias": "The bias is not what it should be.",
        "others": "Two new layers start with the same numbers.",
        "gradients": "A gradient does not arrive, or is not the right one.",
    },
)
def linear(draw: Draw) -> Iterator[Case]:
    """Make a linear layer from parameters."""
    a, b, n, m = draw.sizes(4, 2, 7)
    yield Case("computes x @ weight.T + bias", a, b, x=draw.normal(n, a))
    yield Case(ANY_AXES, a, b, x=draw.normal(a))
    yield Case(ANY_AXES, a, b, x=draw.normal(2, m, n, a))
    yield Case(_REGISTERED, a, b, x=draw.normal(n, a))
    yield Case(_UNBIASED, a, b, x=draw.normal(n, a), bias=False)
    yield Case(_START, draw.whole(5, 8), draw.whole(400, 500))
    yield Case(_GRADIENTS, a, b, x=draw.normal(n, a))


_BUFFERS = "holds mean and std as buffers, and has no parameters"
_IN_STATE = "saves them in its state_dict, and loads them"
_MOVES = "takes them along with .to"
_COPIES = "keeps copies of what it is given"
_UNCHANGED = "changes nothing that it is given"


@EXERCISES.add(
    "Standardizer",
    tier="core",
    hints=HINTS["Standardizer"],
    spelled=calls.made_and_called,
    probe=in_part(
        {
            _BUFFERS: layers.held,
            _IN_STATE: layers.saved,
            _MOVES: layers.moved,
            _COPIES: layers.kept_apart,
            _UNCHANGED: layers.left_alone,
        },
        otherwise=layers.standardized,
    ),
    tells={
        "parameters": "Your module has parameters. mean and std are not to be learned.",
        "buffers": "mean and std are not both buffers of the module.",
        "state_dict": "The state_dict does not hold mean and std.",
        "loaded": "A module that has loaded your state_dict computes something else.",
        "dtypes": "After `.to(torch.float64)`, mean and std have another dtype than float64.",
        "devices": "After `.to('meta')`, mean and std are on another device than meta.",
        "later": "The module changes when the tensors change that it was made from.",
    },
)
def standardizer(draw: Draw) -> Iterator[Case]:
    """Keep numbers that do not learn."""
    d, n, m = draw.sizes(3, 2, 6)

    def numbered(requirement: str, *rows: int) -> Case:
        mean, std = draw.normal(d) * 3 + 2, draw.uniform(d, low=0.2, high=0.8)
        return Case(requirement, mean, std, x=draw.normal(*rows, d))

    basic = "subtracts the mean, then divides by the std"
    yield numbered(basic, n)
    yield numbered(basic, m, n)
    for requirement in (_BUFFERS, _IN_STATE, _MOVES, _COPIES, _UNCHANGED):
        yield numbered(requirement, n)


_ORDER = "lists its parameters from input to output"
_IN_TURN = "computes layers and activations in turn"
_AT_THE_END = "has no activation after the last layer"
_OF_ITS_OWN = "gives each hidden layer an activation of its own"


@EXERCISES.add(
    "MLP",
    tier="core",
    hints=HINTS["MLP"],
    spelled=calls.made_and_called,
    probe=in_part(
        {
            _ORDER: layers.layer_order,
            _IN_TURN: layers.computed,
            _AT_THE_END: layers.computed,
            _OF_ITS_OWN: layers.activations_made,
            ANY_AXES: layers.computed,
        },
        otherwise=layers.shape_of_result,
    ),
    tells={
        "parameters": "The parameters are not weight and bias of each layer, from input to output.",
        "activations": "The number of activations in the module is not that of the hidden layers.",
    },
)
def mlp(draw: Draw) -> Iterator[Case]:
    """Stack as many layers as asked for."""
    a, b, c, d, n = draw.sizes(5, 2, 9)
    yield Case("turns (batch, sizes[0]) into (batch, sizes[-1])", [a, b, c], "nn.Tanh", x=draw.normal(n, a))
    yield Case("turns (batch, sizes[0]) into (batch, sizes[-1])", [c, a], "nn.Tanh", x=draw.normal(n, c))
    yield Case(_ORDER, [a, b, b, b, c], "nn.Tanh")
    yield Case(_ORDER, [d, c, a], "nn.PReLU")
    yield Case(_IN_TURN, [a, b, c, d], "nn.Softplus", x=draw.normal(n, a))
    yield Case(_IN_TURN, [d, b, a, n, c], "nn.Tanh", x=draw.normal(n, d))
    yield Case(_AT_THE_END, [a, b], "nn.Sigmoid", x=draw.normal(n, a))
    yield Case(_OF_ITS_OWN, [a, b, c, d, n], "nn.PReLU")
    yield Case(ANY_AXES, [a, d, b], "nn.Tanh", x=draw.normal(a))
    yield Case(ANY_AXES, [a, d, b], "nn.Tanh", x=draw.normal(n, c, a))


_HIDDEN, _OUT, _SCALE = "learns in its hidden layers", "learns in its output layer", "learns its scale"
_AGAIN = "gives the same prices for the same houses"
_PRICES = "computes the prices that the docstring describes"


@EXERCISES.add(
    "HouseNet",
    tier="core",
    hints=HINTS["HouseNet"],
    spelled=calls.made_and_called,
    probe=in_part(
        {
            _HIDDEN: layers.house_learns("hidden"),
            _OUT: layers.house_learns("out"),
            _SCALE: layers.house_scale,
            _AGAIN: layers.house_again,
            _PRICES: layers.computed,
        },
        otherwise=layers.house_begins,
    ),
    tells={
        "learns": "The prices have the right shape, but parameters() is empty: nothing here would learn.",
        "hidden": "Not every weight and bias of the hidden layers is a parameter that a gradient reaches.",
        "out": "Weight and bias of the output layer are not both parameters that a gradient reaches.",
        "scale": "The scale is not what it should be.",
        "same": "Called twice with the same houses, your model gives other prices the second time.",
    },
)
def house_net(draw: Draw) -> Iterator[Case]:
    """Find out why a model does not learn."""
    features, n = draw.sizes(2, 2, 7)
    requirements = ("gives one price per house, and has parameters", _HIDDEN, _OUT, _SCALE, _AGAIN, _PRICES)
    for requirement in requirements:
        yield Case(requirement, features, x=draw.normal(n, features))
    yield Case(_PRICES, features + 1, x=draw.normal(1, features + 1))

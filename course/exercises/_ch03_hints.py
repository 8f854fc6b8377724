"""The hints of chapter 3, from a nudge to nearly there."""

from __future__ import annotations

HINTS: dict[str, tuple[str, ...]] = {
    "TwoLayerMLP": (
        "Layers are made once, in `__init__`, after `super().__init__()`; `forward` uses them.",
        "In `__init__`: `self.fc1` and `self.fc2`, each an `nn.Linear`. In `forward`: fc1, then relu, then fc2.",
    ),
    "count_params": (
        "Which method of a module lists every parameter once, at any depth, and no buffers?",
        "Sum `numel()` over `parameters()`; leave out those without `requires_grad` where that is asked for.",
    ),
    "Linear": (
        "A tensor becomes a parameter when an `nn.Parameter` is assigned to an attribute of the module.",
        "Draw the numbers first, then wrap: `nn.Parameter(...)` is the last step, or it is no leaf.",
        "`x @ self.weight.T` works for any axes in front: matmul looks at the last two. Without a bias, add nothing.",
    ),
    "Standardizer": (
        "Parameters learn, plain attributes stay behind. What is the third thing that a module can hold?",
        "`self.register_buffer(name, tensor)`; give it a copy, so that nobody else writes into it.",
    ),
    "MLP": (
        "Neighbors in `sizes` are the widths before and after a layer: `zip(sizes, sizes[1:])`.",
        "A module does not look into a plain list. Which container registers what it holds?",
        "Make a list of layer, activation, layer, activation, ..., and drop the last activation.",
    ),
    "HouseNet": (
        "Print the names in `named_parameters()`. Seven tensors should learn: which ones are missing?",
        "Ask of each: is it made in `__init__`? Does it reach the module as an attribute that a module registers?",
        "A plain list and a plain tensor are not looked at. A layer that is made in `forward` is new at each call.",
    ),
    "call_counts": (
        "A forward hook on each submodule can count. Where do the names come from?",
        "A function made in a loop sees the loop's variable later: pass `name=name` as a default.",
        "Keep the handles, and call `remove()` on each in a `finally`.",
    ),
    "init_he": (
        "`module.modules()` goes to any depth, and the module itself is one of them. Which ones concern you?",
        "`nn.init.normal_` and `nn.init.zeros_` write into the tensor that they are given.",
        "The std is `math.sqrt(2 / part.in_features)`; a layer without bias has `part.bias is None`.",
    ),
    "Dropout": (
        "`self.training` says in which mode the module is.",
        "Compare uniform random numbers of the shape of x with p: that is a mask with a draw for each number.",
    ),
    "BatchNorm1d": (
        "In training the mean and variance come from the batch, and the gradient flows through them as well.",
        "The running values are buffers: change them in place under `torch.no_grad()`, in training only.",
        "Two variances: correction=0 to standardize with, correction=1 for running_var. The eps is inside the root.",
    ),
    "save_best": (
        "`state_dict()` holds the module's own tensors, not copies. What happens to them at the next step?",
        "Clone each tensor into a new dict. `best` may be None: look at that before its loss.",
    ),
    "load_partial": (
        "Compare names and shapes yourself first; `strict=False` forgives names, but no shapes.",
        "Gather the entries that fit, load them with `strict=False`, and see which names of both are left.",
        "The names of both together: `own.keys() | state.keys()`. Take away those loaded, and sort.",
    ),
    "freeze_all_but": (
        "`requires_grad` is a flag of each parameter, not of the module. `fnmatch.fnmatch(name, pattern)` decides.",
        "A batch norm in training mode moves its statistics, whatever its flags say: who has to go into eval mode?",
        "For each of `modules()`: it holds parameters or buffers, but nothing trainable? Then call its `eval()`.",
    ),
    "shape_trace": (
        "A tensor on the meta device has a shape and no numbers. Copy the module there, then call the copy.",
        "`copy.deepcopy(module).to('meta')`, and a forward hook on each submodule that has no children.",
        "A hook gets module, inputs and output; pass the name as a default, as in call_counts.",
    ),
}

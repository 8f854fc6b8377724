"""The hints of chapter 5, from a nudge to nearly there."""

from __future__ import annotations

HINTS: dict[str, tuple[str, ...]] = {
    "pick_device": (
        "Who decides where `prefer` is given? And in which order are the others asked where it is not?",
        "`torch.device(prefer)` makes a device of a name. Then an `if` each for cuda and mps; the CPU is always there.",
    ),
    "to_device": (
        "What is `obj`? A tensor, a dict, a list or tuple, or anything else: four cases, one answer to each.",
        "The function may call itself on each value in a container. Build a new container of `type(obj)`.",
        "A named tuple is made from its values one by one, `type(obj)(*values)`; a plain tuple from one list of them.",
    ),
    "train_step_on": (
        "It is the step of chapter 4. Which two tensors may be on another device, and what does `.to` return?",
        "`.to` moves nothing in place: use its result. The prediction comes first in `criterion`.",
        "`loss.item()` waits for the value. `detach()` gives a tensor without a record, and waits for nothing.",
    ),
    "count_syncs": (
        "A class within the function can write into a list of the function. A new call needs a new list.",
        "Whatever the operation is, `__torch_dispatch__` must run it with its args and kwargs and return its result.",
        "`with Watch(): fn()` switches the mode on for one call; `str(func.overloadpacket)` is the name to compare.",
    ),
    "make_agnostic": (
        "Ask of each tensor: who made it, on which device, and does `.to` find it? `.to` finds parameters and buffers.",
        "`nn.ModuleList` and `register_buffer` let a module know what it holds; `device=x.device` follows the input.",
        "An optimizer holds the parameters it was given: replace and move first. `.item()` waits: add tensors up.",
    ),
    "bench": (
        "When has the work of a call begun, and when is it done? At any other moment, the clock tells something else.",
        "Before the clock is read the first time, wait for what is left over; before it is read again, for this call.",
        "Collect one time for each call; `statistics.median` knows what to do with an even number of them.",
    ),
    "memory_plan": (
        "Three of the four are counts times `dtype.itemsize`. For the fourth you need a forward pass, of a copy.",
        "`saved_tensors_hooks` calls your function with each saved tensor. Which of them share memory?",
        "`tensor.untyped_storage()` is that memory: `data_ptr()` tells one from another, `nbytes()` is its size.",
    ),
    "master_weights": (
        "There are two loops in one, with two dtypes. In which dtype must each intermediate result be?",
        "`.float()` before the loop for the master, of weights and gradient; nothing is turned back within it.",
    ),
    "autocast_dtypes": (
        "Sort the names: products; losses; what just follows the dtype of its input; what is no operation at all.",
        "A sum of bfloat16 and float32 is float32, as in chapter 1. The weight stays as it was made; so does its grad.",
        "On the CPU softmax is on none of the lists: it follows its input, and h is a product.",
    ),
    "mixed_region": (
        "Two things are needed: that autocast is off, and that what comes in is float32. One does not bring the other.",
        "`torch.autocast(device_type, enabled=False)` switches it off. Return a function; do not call block yet.",
    ),
    "underflow_report": (
        "Which entries are counted at all? Those whose float32 gradient is not 0.",
        "The scale must come before float16: scale the loss, take the float32 gradients, then turn them to float16.",
        "`torch.autograd.grad(..., allow_unused=True)` leaves .grad alone, and gives None for one that has no part.",
    ),
    "LossScaler": (
        "What must be known at step that was found in unscale_? And what must be forgotten at update?",
        "Look at all gradients before you change any. An inf or a nan anywhere means: no step.",
        "In update: static? Then nothing changes. Not finite: back off, begin again at 0. Finite: count, perhaps grow.",
    ),
    "amp_train_step": (
        "Under autocast: the model and the loss. Everything else is outside. When are the gradients true ones?",
        "The gradients are `scale` times too long until `scaler.unscale_(optimizer)`; clip after it, and call it once.",
        "The order: scale(loss).backward(), unscale_, clip, scaler.step, scaler.update. Clear old gradients before.",
    ),
}

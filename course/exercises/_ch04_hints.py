"""The hints of chapter 4, from a nudge to nearly there."""

from __future__ import annotations

HINTS: dict[str, tuple[str, ...]] = {
    "train_step": (
        "Five lines: clear, predict, compare, backward, step. Where must the clearing stand so that .grad is right?",
        "Call the model, not its `forward`. The criterion takes the prediction first.",
        "`item()` makes a float of the loss. The model's mode is the caller's business.",
    ),
    "house_prices": (
        "Print the gradient of each weight. Why can no learning rate suit all of them?",
        "Give every column mean 0 and spread 1 before you train. Then 0.1 is a good rate for all of them.",
        "The weights are then in other units: divide by the spreads, and mend the bias.",
    ),
    "sin_fit": (
        "The class: two `nn.Linear` in __init__, a `relu` between them in forward.",
        "The function: choose the optimizer, make x and its sines, then the five lines, `steps` times.",
        "x and y are both (200, 1): `torch.linspace(...)` and `unsqueeze(1)`.",
    ),
    "compare_optimizers": (
        "Call `start(seed)` once for each optimizer: then both begin at the same weights.",
        "Look at the loss before each step: the count goes up with a step, not with a look.",
        "The ratio is one division of two sums, at the end.",
    ),
    "PairDataset": (
        "Keep x and y, or their pairs, in __init__. Where can lengths be compared?",
        "Lists and tensors know negative places and raise IndexError by themselves: let them.",
    ),
    "collate_pad": (
        "Make the table first, full of `pad`; then write each row into its beginning.",
        "`torch.full` takes a dtype. How long is the longest row?",
    ),
    "loss_inputs": (
        "Look up what each loss takes: logits or probabilities? labels or one-hot rows, in which dtype and shape?",
        "Two of the losses apply softmax or sigmoid themselves. argmax has no gradient.",
        "Cross-entropy wants the classes in dim 1: one row per letter does it. Print the shapes of the last head.",
    ),
    "evaluate": (
        "Three things to set up and to undo: the mode, the graph, the counts.",
        "A batch's mean loss counts for as many samples as the batch has.",
        "A submodule may be in another mode than the model: write down the mode of each of `model.modules()`.",
    ),
    "SGDMomentum": (
        "One velocity per tensor, made in __init__. What happens to a generator that is gone through twice?",
        "Change the tensors in place under `torch.no_grad()`; .grad itself stays.",
    ),
    "AdamW": (
        "For each tensor: t, m and s of its own. Follow the four lines of the docstring.",
        "The decay multiplies p; it does not go into the gradient. eps is added after the root.",
        "A tensor without a gradient is left out altogether: its t does not count up.",
    ),
    "lr_at": (
        "Two cases: in the warm-up, and after it. Write each formula down as it stands.",
        "t is the share of the way from warmup_steps to total_steps. What if the step lies beyond?",
    ),
    "clip_grad_norm": (
        "Collect the gradients in a list first: you need them twice, and a generator can be gone through once.",
        "One norm for all of them: add up all squares, then take one root.",
        "`mul_` changes a gradient in place.",
    ),
    "overfit_one_batch": (
        "Try the faults in the order of the docstring: each test is a line or two.",
        "Compare tensors by `is` or `id` to find out who is in the optimizer; go through all of its param_groups.",
        "Clone the parameters before a step. And remember that nan is not smaller than anything.",
    ),
    "broken_loops": (
        "Compare each loop with the five lines: what is missing, out of place, or done too often?",
        "Which parameters does the optimizer move? Which shapes meet in the loss? Which row belongs to which target?",
        "Things with a memory are made once, before the loop. A schedule counts what its comment says.",
    ),
    "fit": (
        "What has a memory besides the weights? The optimizer, the scheduler, the random numbers, your list of losses.",
        "`state_dict()` shows living tensors, and an optimizer takes over those that it loads: where are copies due?",
        "`torch.get_rng_state` and `torch.set_rng_state` for the random numbers; `copy.deepcopy` for the rest.",
    ),
}

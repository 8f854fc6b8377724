"""The hints of chapter 6, from a nudge to nearly there."""

from __future__ import annotations

HINTS: dict[str, tuple[str, ...]] = {
    "train": (
        "First the loop of chapter 4, without a checkpoint. Then ask of each thing that changes: who remembers it?",
        "Five things remember: model, optimizer, the generator of the order, torch's own generator, and the two lists.",
        "`while len(losses) < epochs` runs what is missing. Copy deeply when you save, and the optimizer's part when "
        "you load.",
    ),
    "train_amp": (
        "There are two loops, one in the other: groups, and the batches of a group. What belongs to which?",
        "Clearing, unscaling, clipping, step and update: once for each group. Forward and backward: for each batch.",
        'The sum of the losses of a batch (reduction="sum"), divided by the number of images in the whole group.',
    ),
    "fix_trainer": (
        "Run it: the first fault tells you its line. The other five are silent. Read with the five lines of training "
        "in mind.",
        "What does cross-entropy take? What is cleared when? Who is called after each batch, who after each epoch?",
        "What does `state_dict` return, numbers or the live tensors? And what must happen before you measure?",
    ),
}

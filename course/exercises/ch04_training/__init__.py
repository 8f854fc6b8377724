"""The exercises of chapter 4: a step, an evaluation, data, optimizers, whole trainings, and the hunts for faults."""

"""The exercises of chapter 4a: a step, an evaluation, and the whole loop."""

"""The exercises of chapter 4x: data of one's own, clipping, optimizers by hand, stop and resume."""

"""The digits, for figures that show them."""

from __future__ import annotations

import torch
from torch import Tensor


def known_digits() -> tuple[Tensor, Tensor]:
    """The ink of each digit as a row of 64 numbers from 0 to 16, (1797, 64), and what each is, (1797,)."""
    # A second to import, and those who run the setup cell to grade it draw nothing.
    try:
        from sklearn.datasets import load_digits
    except ModuleNotFoundError as missing:
        if (missing.name or "").partition(".")[0] != "sklearn":
            raise  # it is there, and something that it needs is not: these words say what
        raise ImportError("The digits come with scikit-learn: run `pip install scikit-learn`, then restart.") from None

    digits = load_digits()
    return torch.tensor(digits.data, dtype=torch.float32), torch.tensor(digits.target)

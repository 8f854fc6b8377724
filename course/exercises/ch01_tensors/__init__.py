"""The exercises on tensors: what they are, how they lie in memory, and what can be computed with them."""

"""The exercises on tensors: what they say of themselves, and how they lie in memory."""

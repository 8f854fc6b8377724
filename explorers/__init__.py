"""Explorers: see shapes, the graph and the training loop on tensors of your own."""

"""The exercises on the way to a program that reads digits: products, one scale for all, distances."""

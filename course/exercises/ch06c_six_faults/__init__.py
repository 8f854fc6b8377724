"""The exercise of chapter 6c: a trainer with six faults."""

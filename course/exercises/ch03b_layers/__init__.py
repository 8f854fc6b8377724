"""The exercises of chapter 3b: models made of layers."""

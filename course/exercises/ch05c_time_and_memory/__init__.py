"""The exercises of chapter 5c: what a step costs in time and memory, and the tools behind mixed precision."""

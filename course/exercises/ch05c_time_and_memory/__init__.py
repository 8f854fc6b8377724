"""The exercises of chapter 5c: what time and memory go into, and the tools behind mixed precision. Everything runs on a CPU."""

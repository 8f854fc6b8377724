"""The exercises of chapter 5b: training in mixed precision. Everything runs on a CPU."""

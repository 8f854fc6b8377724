"""The exercises of chapter 5a: a program that runs on any device. Everything runs on a CPU."""

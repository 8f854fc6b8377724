"""The exercises of chapter 5: devices, what they cost, and 16-bit numbers. Everything runs on a CPU."""

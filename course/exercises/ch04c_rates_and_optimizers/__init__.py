"""The exercises of chapter 4c: columns in different units, a sine, a fair comparison, and a schedule."""

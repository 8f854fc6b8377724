"""The exercises of chapter 3: classes of layers, and functions that look into modules and change them."""

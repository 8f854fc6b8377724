"""The colors of what Python draws and tells. (The explorers' style sheets have theirs, for light and dark pages.)"""

from __future__ import annotations

# Beside text on light and dark pages: green and red differ in lightness too, and a sign stands beside each.
PASSED, FAILED, OPEN, SURPRISING = "#1a7f5a", "#c4442f", "#7a7a7a", "#b26a00"

# Okabe-Ito colors, for pictures: told apart by colorblind readers, and light to dark in this order.
YELLOW, SKY, ORANGE, GREEN, BLUE = "#F0E442", "#56B4E9", "#E69F00", "#009E73", "#0072B2"
VERMILION = "#D55E00"  # in place of orange for thin lines and bars without an edge: seen on white paper too
# INK is for what stands on the page, and becomes the page's own; DARK for what stands on a color, in every theme.
INK, DARK, GREY, WHITE = "#222222", "#010101", "#888888", "#FFFFFF"
TINT, NO_COLOR = "#88888824", "none"  # a cell that has no color, on light and dark pages

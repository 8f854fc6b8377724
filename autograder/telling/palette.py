"""The colors of what Python draws and tells. (The explorers' style sheets have theirs, for light and dark pages.)"""

from __future__ import annotations

# Beside text on light and dark pages: green and red differ in lightness too, and a sign stands beside each.
PASSED, FAILED, OPEN, SURPRISING = "#1a7f5a", "#c4442f", "#7a7a7a", "#b26a00"

# Okabe-Ito colors, for pictures: told apart by colorblind readers, and light to dark in this order.
YELLOW, SKY, ORANGE, GREEN, BLUE = "#F0E442", "#56B4E9", "#E69F00", "#009E73", "#0072B2"
INK, GREY, SILVER, PALE, WHITE = "#222222", "#888888", "#BBBBBB", "#EEEEEE", "#FFFFFF"

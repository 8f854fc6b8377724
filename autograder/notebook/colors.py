"""The colors of pictures and of feedback, and the marks of passed, failed and open checks.

The explorers' style sheets define their own colors, for light and dark pages.
"""

from __future__ import annotations

# For edges and marks on light and dark pages. Green and red differ in lightness too, and each has a mark beside it.
PASSED, FAILED, OPEN, SURPRISING = "#1a7f5a", "#c4442f", "#7a7a7a", "#b26a00"
PASSED_MARK, FAILED_MARK, OPEN_MARK = "✓", "✗", "○"

# Okabe-Ito colors, for pictures: colorblind readers can distinguish them. The order is from light to dark.
YELLOW, SKY, ORANGE, GREEN, BLUE = "#F0E442", "#56B4E9", "#E69F00", "#009E73", "#0072B2"
VERMILION = "#D55E00"  # replaces orange in thin lines and in bars without an edge: it is visible on white paper too
# INK is for lines and text on the page (a page replaces it with its own text color), DARK for text on a colored area.
INK, DARK, GREY, WHITE = "#222222", "#010101", "#888888", "#FFFFFF"
TINT, NO_COLOR = "#88888824", "none"  # TINT fills a cell that has no color of its own, on light and dark pages

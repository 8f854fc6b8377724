"""Check that everybody can perceive and use a page: measures contrasts, names and focus rings in the rendered page."""

from __future__ import annotations

from typing import Any

from playwright.sync_api import Locator

LEAST_CONTRAST = 4.5  # WCAG 2, level AA, for text of normal size

_CONTRASTS = """root => {
  const parse = text => {
    const parts = text.match(/[\\d.]+/g).map(Number);
    const scale = text.startsWith("color(") ? 255 : 1;
    return [...parts.slice(0, 3).map(part => part * scale), parts[3] ?? 1];
  };
  const over = ([r, g, b, a], below) => [r, g, b].map((part, i) => part * a + below[i] * (1 - a));
  const behind = element => {
    const layers = [];
    for (let one = element; one; one = one.parentElement) {
      const layer = parse(getComputedStyle(one).backgroundColor);
      layers.push(layer);
      if (layer[3] === 1) break;
    }
    return layers.reverse().reduce((below, layer) => over(layer, below), [255, 255, 255]);
  };
  const light = color => {
    const [r, g, b] = color.map(part => part / 255).map(p => (p <= 0.04045 ? p / 12.92 : ((p + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const ratio = (one, other) => {
    const [low, high] = [light(one), light(other)].sort((a, b) => a - b);
    return (high + 0.05) / (low + 0.05);
  };
  const texts = [root, ...root.querySelectorAll("*")].filter(element =>
    element.getClientRects().length && (element.matches("select, input") ||
      [...element.childNodes].some(node => node.nodeType === Node.TEXT_NODE && node.data.trim())));
  return texts.map(element => {
    const below = behind(element);
    const text = (element.innerText || element.value || "").trim().slice(0, 40);
    return [text, ratio(over(parse(getComputedStyle(element).color), below), below)];
  });
}"""

_NAMES = """root => [...root.querySelectorAll("button, input, select, textarea, a, [tabindex='0']")].map(element => [
  element.outerHTML.slice(0, 120),
  (element.getAttribute("aria-label") || [...(element.labels ?? [])].map(label => label.innerText).join(" ")
    || (element.matches("input, select, textarea") ? "" : element.innerText)).trim(),
])"""

_RING = """element => { const style = getComputedStyle(element);
  return style.outlineStyle === "none" ? 0 : parseFloat(style.outlineWidth); }"""


def faint_texts(root: Locator) -> list[Any]:
    """Return the texts below `root` with too little contrast to their background; fails for fewer than six texts."""
    measured = root.evaluate(_CONTRASTS)
    assert len(measured) > 5
    return [(text, round(ratio, 2)) for text, ratio in measured if ratio < LEAST_CONTRAST]


def nameless_controls(root: Locator) -> list[str]:
    """Return the controls below `root` without a name for a screen reader; fails if there is no control."""
    controls = root.evaluate(_NAMES)
    assert controls
    return [markup for markup, name in controls if not name]


def focus_ring(element: Locator) -> float:
    """Return the width of the ring around the focused element, in pixels."""
    return float(element.evaluate(_RING))

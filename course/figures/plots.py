"""A reader's own plots, on light and dark pages."""

from __future__ import annotations

from typing import Any

from IPython import get_ipython


def plots_take_the_ink_of_the_page() -> None:
    """Show what `plt.show()` shows like the chapter's own figures: without a white rectangle, which dazzles at night.

    Outside of a notebook nothing happens, and the cells that plot stay as they are everywhere else.
    """
    shell = get_ipython()
    if shell is not None:
        html = shell.display_formatter.formatters["text/html"]
        # The first plot forgets every form of a Figure but pixels; those of what a Figure is made from stay.
        html.for_type_by_name("matplotlib.figure", "FigureBase", _shown)


def _shown(figure: Any) -> str | None:
    # Half a second to import, and those who run the setup cell to grade it plot nothing.
    from .sharp import plot_on_the_page

    return plot_on_the_page(figure)

"""Build the course as a site for reading, in build/site/html/, or with --lite notebooks for the browser."""

from __future__ import annotations

import argparse
from pathlib import Path


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of `site`."""
    parser.add_argument("--lite", action="store_true", help="build a JupyterLite in build/site/lite/ instead")
    parser.add_argument(
        "--torch-wheel", type=Path, metavar="FILE", help="the wheel of torch for it: there is no official"
    )


def run(args: argparse.Namespace) -> int:
    """Build the site, or with --lite the JupyterLite beside it, and print the path of its first page."""
    root = args.root.resolve()
    place = root / "build" / "site"
    print(f"The site is in {_lite(args, root, place / 'lite') if args.lite else _site(root, place)}")
    return 0


def _site(root: Path, place: Path) -> Path:
    from autograder.authoring.site.build_site import build

    return build(root, place)


def _lite(args: argparse.Namespace, root: Path, place: Path) -> Path:
    from autograder.authoring.site.jupyterlite import build_lite, read_torch_wheel
    from autograder.errors import WorkFailed

    if args.torch_wheel is None:
        raise WorkFailed("--lite needs a wheel of torch for Pyodide, and there is no official one: --torch-wheel FILE.")
    return build_lite(root, read_torch_wheel(args.torch_wheel), place)

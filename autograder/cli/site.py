"""Build the course as a site for reading, in build/site/html/, or with --lite notebooks for the browser."""

from __future__ import annotations

import argparse
from pathlib import Path

from autograder.cli import require_chapters


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of `site`."""
    parser.add_argument(
        "chapters",
        nargs="*",
        metavar="CHAPTER",
        help="run only these, by the stem of their file, and those that the first page shows (default: all)",
    )
    parser.add_argument("--lite", action="store_true", help="build a JupyterLite in build/site/lite/ instead")
    parser.add_argument(
        "--torch-wheel", type=Path, metavar="FILE", help="the wheel of torch for it: there is no official"
    )


def run(args: argparse.Namespace) -> int:
    """Build the site, or with --lite the JupyterLite beside it, and print the path of its first page."""
    root = args.root.resolve()
    place = root / "build" / "site"
    print(f"The site is in {_lite(args, root, place / 'lite') if args.lite else _site(root, place, args.chapters)}")
    return 0


def _site(root: Path, place: Path, chapters: list[str]) -> Path:
    from autograder.authoring.site.build_site import build
    from autograder.course.course import course_in
    from autograder.course.course_location import find_course

    if chapters:
        require_chapters(chapters, course_in(find_course(root)).stems)
    return build(root, place, chapters)


def _lite(args: argparse.Namespace, root: Path, place: Path) -> Path:
    from autograder.authoring.site.jupyterlite import build_lite, read_torch_wheel
    from autograder.errors import WorkFailed

    if args.chapters:
        raise WorkFailed(f"--lite takes all notebooks. Leave {', '.join(args.chapters)} out.")
    if args.torch_wheel is None:
        raise WorkFailed("--lite needs a wheel of torch for Pyodide, and there is no official one: --torch-wheel FILE.")
    return build_lite(root, read_torch_wheel(args.torch_wheel), place)

"""Build the course as a site for reading, in build/site/html/."""

from __future__ import annotations

import argparse


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """`site` has no options."""


def run(args: argparse.Namespace) -> int:
    """Build the site, and print the path of its first page."""
    from autograder.authoring.site.build_site import build

    root = args.root.resolve()
    print(f"The site is in {build(root, root / 'build' / 'site')}")
    return 0

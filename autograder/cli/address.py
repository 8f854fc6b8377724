"""Set the project's public address from the git remote `origin`."""

from __future__ import annotations

import argparse

from autograder.authoring import project_address_setting
from autograder.errors import CourseError


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of `address`."""
    parser.add_argument("address", nargs="?", help="the address to set, instead of the remote's")


def run(args: argparse.Namespace) -> int:
    """Write the address into pyproject.toml; raise CourseError if there is no usable address."""
    found = (
        project_address_setting.remote_as_https(args.address)
        if args.address
        else project_address_setting.origin_address(args.root)
    )
    if found is None:
        raise CourseError(
            "expected a hosted https or ssh address, found none; add the remote with "
            "`git remote add origin ADDRESS`, or give the address: `autograder address https://HOST/OWNER/NAME`."
        )
    if not project_address_setting.write_address(args.root, found):
        print(f"The address is {found} already.")
        return 0
    print(f"The address is {found} now. Run `make build`, and commit what it writes.")
    return 0

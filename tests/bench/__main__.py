"""Measures what grading costs, and how that compares with nbgrader alone: `python -m tests.bench`."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from tests.bench import measurements


def main() -> None:
    """Measure, and print a table or JSON; progress is printed on stderr."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench", description=__doc__)
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")
    parser.add_argument("--size", type=int, default=100, help="submissions in the class (default: 100)")
    parser.add_argument("--stock", type=int, default=6, help="how many of them nbgrader alone grades (default: 6)")
    parser.add_argument("--growth", type=int, nargs="*", default=[1000], help="larger classes (default: 1000)")
    args = parser.parse_args()

    def say(what: str) -> None:
        print(f"... {what}", file=sys.stderr, flush=True)

    figures = measurements.measured(Path().resolve(), args.size, args.stock, args.growth, say)
    print(json.dumps(figures, indent=1) if args.json else measurements.table(figures))


if __name__ == "__main__":
    main()

"""Write notebooks that carry the student's part of the package: one file to share, for Colab or any other Jupyter."""

from __future__ import annotations

import argparse

from autograder.cli import require_chapters


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of `colab`."""
    parser.add_argument("chapters", nargs="*", metavar="CHAPTER", help="the stems of chapters (default: all)")


def run(args: argparse.Namespace) -> int:
    """Write the notebooks to build/shared/, and print a line for each.

    Raises UnknownExercise for an unknown chapter, and WorkFailed if a chapter's notebook is missing.
    """
    import nbformat

    from autograder.authoring.make_chapter_notebooks import to_bytes
    from autograder.course.course import course_in
    from autograder.course.course_location import find_course
    from autograder.errors import WorkFailed
    from autograder.files import write_all
    from autograder.workspace.embed_package_in_notebook import embed_package

    course = find_course(args.root)
    stems = course_in(course).stems
    require_chapters(args.chapters, stems)
    for stem in args.chapters or stems:
        path = course.parent / "notebooks" / f"{stem}.ipynb"
        if not path.is_file():
            raise WorkFailed(f"expected {path}, found none. Run `make build`.")
        data = to_bytes(embed_package(nbformat.read(path, as_version=4), course, stem))
        write_all({course.parent / "build" / "shared" / path.name: data})
        print(f"build/shared/{path.name}: {len(data) // 1000} kB; its first cell brings the course along.")
    return 0

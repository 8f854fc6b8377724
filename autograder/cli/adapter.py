"""Write the bundle with which Gradescope, PrairieLearn or Classroom 50 grades a chapter as this grader does."""

from __future__ import annotations

import argparse
from pathlib import Path

_NEXT = {
    "gradescope": "Upload the zip under Configure Autograder; in the settings, give it 3 GB of memory and 20 minutes.",
    "prairielearn": "Copy {stem}/ into questions/ of your course, build the image in {stem}-image/, and name it in "
    "info.json.",
    "classroom50": "Copy {slug}/ into CLASSROOM/autograders/ of the repository classroom50, and name "
    "{slug}-runtime.json with --runtime.\nClassroom 50 publishes that folder: whoever finds its address reads the "
    "solutions, and students can change what grades them. Do not grade exams there.",
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of `adapter`."""
    parser.add_argument("platform", choices=sorted(_NEXT), help="the platform that grades")
    parser.add_argument("sitting", help="the sitting, by the stem of its file")
    parser.add_argument("--out", type=Path, help="the folder to write to (default: build/adapters/PLATFORM)")
    parser.add_argument("--wheel", type=Path, help="the wheel of the course's package (default: built from this clone)")


def run(args: argparse.Namespace) -> int:
    """Write the bundle and print what to do with it.

    Raises a CourseError, and writes nothing, for an unknown sitting, a missing wheel, or a bundle that is there.
    """
    from autograder.course.course_location import find_course
    from autograder.errors import WorkFailed
    from autograder.files import write_all
    from autograder.lms.build_platform_bundle import BUNDLE_BUILDERS, read_bundled_sitting
    from autograder.lms.student_package_wheel import build_or_read_wheel

    course = find_course(args.root)
    out = args.out or course.parent / "build" / "adapters" / args.platform
    sitting = read_bundled_sitting(course, args.sitting)
    files = BUNDLE_BUILDERS[args.platform](sitting, build_or_read_wheel(args.wheel))
    for name in sorted({path.partition("/")[0] for path in files}):
        if (out / name).exists():
            raise WorkFailed(f"{out / name} exists. Move it away, or name another folder with --out.")
    write_all({out / path: data for path, data in files.items()})
    print(f"Wrote {len(files)} files below {out}.")
    print(_NEXT[args.platform].format(stem=sitting.stem, slug=sitting.slug))
    return 0

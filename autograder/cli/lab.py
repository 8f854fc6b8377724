"""Open JupyterLab on your copies of the notebooks; updates replace unedited copies, and are put beside edited ones."""

from __future__ import annotations

import argparse
import sys

from autograder.workspace.jupyterlab import DEFAULT_PORT


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of `lab`."""
    parser.add_argument(
        "--port", type=_port, default=DEFAULT_PORT, help="where JupyterLab answers (default: %(default)s)"
    )
    parser.add_argument("--no-browser", action="store_true", help="print the address, and open no browser")
    parser.add_argument("--export", action="store_true", help="start nothing: print the settings as a line for a shell")
    parser.add_argument("--teach", action="store_true", help="open the course folder, with nbgrader's tools")


def _port(text: str) -> int:
    if not text.isdecimal() or not 0 < int(text) < 2**16:
        raise argparse.ArgumentTypeError(f"expected a number from 1 to 65535, found {text}")
    return int(text)


def run(args: argparse.Namespace) -> int:
    """Update the copies, and replace this process by JupyterLab; raise WorkFailed without notebooks or JupyterLab."""
    from autograder.course.course_location import find_course
    from autograder.errors import WorkFailed
    from autograder.workspace.jupyterlab import JupyterLabLaunch, is_port_taken, require_jupyterlab
    from autograder.workspace.working_copies import WORK_FOLDER, WorkingCopies

    course = find_course(args.root)
    if not args.export:
        require_jupyterlab()
    if args.teach:
        desk = JupyterLabLaunch(course, "", "teacher")
    else:
        folder = course.parent / WORK_FOLDER
        copies = WorkingCopies(course.parent / "notebooks", folder)
        for line in copies.update_copies().lines():
            print(line, file=sys.stderr if args.export else sys.stdout)
        if not copies.notebook_to_open():
            raise WorkFailed(f"expected notebooks in {course.parent / 'notebooks'}, found none. Run `make build`.")
        desk = JupyterLabLaunch(folder, copies.notebook_to_open(), "student")
    if args.export:
        print(desk.exports())
        return 0
    if desk.opened:
        print(f"Opening {WORK_FOLDER}/{desk.opened}.")
    if is_port_taken(args.port):
        print(
            f"Port {args.port} is taken, perhaps by a JupyterLab that you left open; this one takes the next free port."
        )
    print("JupyterLab tells its address below; Ctrl-C ends it.")
    desk.start(args.port, browser=not args.no_browser)
    return 0

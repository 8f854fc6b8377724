"""Let tests run behind each wall that this machine has: namespaces, and as in a container, Landlock."""

from __future__ import annotations

import os
import sys
from functools import cache

import pytest

from autograder.sandbox import confinement_self_test
from autograder.sandbox.execution import fork_server_client
from autograder.sandbox.linux_calls import landlock_version

NAMESPACES, LANDLOCK = WALLS = ("namespaces", "Landlock")
AS_IN_A_CONTAINER = (sys.executable, "-m", "tests.container")


@cache
def standing() -> tuple[str, str]:
    """Return the strongest wall that this machine has, and why it has no stronger one."""
    return confinement_self_test.active_confinement()


def skip_where_root_reads_all() -> None:
    """Skip a test of unreadable files where root grades behind Landlock: then submissions read them, if they must."""
    if os.geteuid() == 0 and standing()[0] != NAMESPACES:
        pytest.skip("behind Landlock, root's submissions read what only root can")


def starter(wall: str) -> tuple[str, ...]:
    """Return the command that starts a program which then confines by this wall; skip the test if none can."""
    name, reason = standing()
    if wall == NAMESPACES:
        return () if name == wall else pytest.skip(f"no namespaces here: {reason}")
    try:
        landlock_version()
    except OSError as error:
        pytest.skip(f"no Landlock here: {error}")
    return AS_IN_A_CONTAINER if name == NAMESPACES else ()


def stand_behind(wall: str, patch: pytest.MonkeyPatch) -> None:
    """Let the fork servers that start from now on confine by this wall."""
    patch.setattr(fork_server_client, "SERVER_COMMAND_PREFIX", starter(wall))

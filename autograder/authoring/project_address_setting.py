"""Read and write the project's public address, the setting in pyproject.toml for Colab badge and install cell."""

from __future__ import annotations

import re
import subprocess
import tomllib
from pathlib import Path
from urllib.parse import urlsplit

from autograder.errors import CourseError, WorkFailed

_SETTING = re.compile(r'(?m)^(\[tool\.pytorch-basics\]\n(?:(?!\[).*\n)*?address = )"[^"\n]*"')
_SCP = re.compile(r"(?:[\w.-]+@)?(?P<host>[\w-]+(?:\.[\w-]+)+):(?P<path>[\w./~-]+)")
_SAFE = re.compile(r"https://[\w.-]+/[\w./~-]+")


def read_address(project: Path) -> str:
    """Return the address set in the project's pyproject.toml, or ""; raises CourseError if it is not valid."""
    try:
        settings = tomllib.loads((project / "pyproject.toml").read_text(encoding="utf-8"))
    except FileNotFoundError:
        return ""
    except tomllib.TOMLDecodeError as error:
        raise CourseError(f"expected TOML in pyproject.toml, found an error ({error}); correct it.") from None
    address = str(settings.get("tool", {}).get("pytorch-basics", {}).get("address", ""))
    if address and not _SAFE.fullmatch(address):
        raise CourseError(
            f"expected an https address without .git as [tool.pytorch-basics] address, found {address!r}; "
            "run `autograder address` or correct it in pyproject.toml."
        )
    return address


def remote_as_https(remote: str) -> str | None:
    """Return a git remote as a public https address; None where it is not a hosted https or ssh one."""
    if "://" not in remote:
        match = _SCP.fullmatch(remote)  # git@host.tld:owner/name.git
        return _https(match["host"], match["path"]) if match else None
    parts = urlsplit(remote)
    if parts.scheme not in ("https", "ssh") or "." not in (parts.hostname or ""):
        return None
    return _https(parts.hostname or "", parts.path)


def _https(host: str, path: str) -> str | None:
    address = f"https://{host.lower()}/{path.strip('/').removesuffix('.git')}"
    return address if _SAFE.fullmatch(address) else None


def origin_address(project: Path) -> str | None:
    """Return the public address of the git remote `origin`; None where there is no such remote."""
    command = ["git", "-C", str(project), "remote", "get-url", "origin"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        return None
    return remote_as_https(done.stdout.strip()) if done.returncode == 0 else None


def write_address(project: Path, address: str) -> bool:
    """Set the address in pyproject.toml; returns whether that changed anything."""
    from autograder.files import write_all

    path = project / "pyproject.toml"
    text = path.read_text(encoding="utf-8")
    changed, count = _SETTING.subn(lambda match: f'{match[1]}"{address}"', text)
    if count != 1:
        raise WorkFailed(f'expected one `address = "..."` under [tool.pytorch-basics] in {path}; add it.')
    if changed == text:
        return False
    write_all({path: changed.encode()})
    return True

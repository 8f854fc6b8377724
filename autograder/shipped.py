"""The shipped observations of a chapter: its keys on the visible cases, as data files beside its exercises."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

from autograder.difference import Tolerance, first_difference
from autograder.errors import DamagedData
from autograder.key import Key
from autograder.observation import from_parts, to_parts

FOLDER = Path(__file__).parent / "exercises"
_LOOSE = Tolerance(relative=1e-3, absolute=1e-4)


def encode(keys: dict[str, Key]) -> dict[str, bytes]:
    """The contents of a chapter's two data files, by suffix."""
    node, tensors = to_parts({name: key.to_plain() for name, key in keys.items()})
    return {".json": _readable(node).encode(), ".safetensors": tensors}


def _readable(node: object) -> str:
    """JSON with a line per exercise and facet group, so that a change reads well in a diff."""
    assert isinstance(node, dict)
    lines = [json.dumps(item, ensure_ascii=False, separators=(",", ":")) for item in node["v"]]
    return '{"t":"dict","v":[\n' + ",\n".join(lines) + "\n]}\n"


def decode(files: dict[str, bytes]) -> dict[str, Key]:
    """Read what `encode` wrote; raises DamagedData for anything else."""
    try:
        plain = from_parts(json.loads(files[".json"]), files[".safetensors"])
        return {name: Key.from_plain(data) for name, data in plain.items()}
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise DamagedData(f"the shipped observations cannot be read ({error}); install the course again") from error


def same(one: dict[str, bytes], other: dict[str, bytes]) -> bool:
    """Whether two builds say the same: to the letter, or with floats as close as two processors' arithmetic is."""
    if one == other:
        return True
    try:
        first, second = decode(one), decode(other)
    except DamagedData:
        return False
    alike = first_difference(_spelled_out(first), _spelled_out(second), _LOOSE) is None
    return alike and _texts(one) == _texts(other)


def _texts(files: dict[str, bytes]) -> set[str]:
    """Every text of the JSON: unlike floats, texts are the same on every machine."""
    found: set[str] = set()
    json.loads(files[".json"], object_hook=lambda node: found.update(_strings(node.get("v", []))))
    return found


def _strings(value: object) -> set[str]:
    if isinstance(value, list):
        return set().union(*map(_strings, value))
    return {value} if isinstance(value, str) else set()


def _spelled_out(keys: dict[str, Key]) -> dict[str, object]:
    """Keys with every observation in its place: which ones are written once may hang on a last digit."""
    return {
        name: [
            [(case.requirement, case.args, case.kwargs) for case in key.cases],
            key.reference,
            [(mistake.tag, mistake.sentence, mistake.observations, mistake.rules) for mistake in key.mistakes],
        ]
        for name, key in keys.items()
    }


@cache
def load(chapter: str, folder: Path = FOLDER) -> dict[str, Key]:
    """The shipped keys of a chapter, by exercise; read once."""
    paths = {suffix: folder / f"{chapter}{suffix}" for suffix in (".json", ".safetensors")}
    missing = [path.name for path in paths.values() if not path.is_file()]
    if missing:
        raise DamagedData(f"expected {' and '.join(missing)} in {folder}, found none. Run `make build`.")
    return decode({suffix: path.read_bytes() for suffix, path in paths.items()})

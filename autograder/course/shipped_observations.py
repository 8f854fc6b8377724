"""Encode and decode a chapter's shipped observations: its keys on the visible cases, as two data files."""

from __future__ import annotations

import json

from autograder.diagnosis.expected_observations import ExpectedObservations
from autograder.errors import DamagedData
from autograder.exercises.observation import decode_json_and_tensors, encode_as_json_and_tensors

SHIPPED_FILE_SUFFIXES = (".json", ".safetensors")


def encode(keys: dict[str, ExpectedObservations]) -> dict[str, bytes]:
    """Return the contents of a chapter's two data files, by suffix."""
    node, tensors = encode_as_json_and_tensors({name: key.to_plain() for name, key in keys.items()})
    return dict(zip(SHIPPED_FILE_SUFFIXES, (_readable(node).encode(), tensors), strict=True))


def _readable(node: object) -> str:
    """Return JSON with one line per exercise, so that a change reads well in a diff."""
    assert isinstance(node, dict)
    lines = [json.dumps(item, ensure_ascii=False, separators=(",", ":")) for item in node["v"]]
    return '{"t":"dict","v":[\n' + ",\n".join(lines) + "\n]}\n"


def decode(files: dict[str, bytes]) -> dict[str, ExpectedObservations]:
    """Return the keys that `encode` wrote, by exercise; raise DamagedData for anything else."""
    try:
        plain = decode_json_and_tensors(json.loads(files[".json"]), files[".safetensors"])
        return {name: ExpectedObservations.from_plain(data) for name, data in plain.items()}
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise DamagedData(f"the shipped observations cannot be read ({error}); install the course again") from error

"""The shipped observations: files, and when two builds say the same."""

import pytest

from autograder import shipped
from autograder.errors import DamagedData
from autograder.judgement import judge

from . import made


def test_a_key_survives_the_files() -> None:
    """Judging with the shipped key gives the same report as with the original."""
    back = shipped.decode(shipped.encode({"double": made.key()}))["double"]
    seen = made.exercise().observe(made.forgets, back.cases)

    assert made.report(made.forgets) == judge(made.exercise(), back, seen, "")


def test_encoding_is_reproducible() -> None:
    """The same key gives the same bytes."""
    assert shipped.encode({"double": made.key()}) == shipped.encode({"double": made.key()})


def test_other_cases_are_not_the_same() -> None:
    """A build with other values is told from this one."""
    one, other = (shipped.encode({"double": made.key(seed)}) for seed in (0, 1))

    assert shipped.same(one, one)
    assert not shipped.same(one, other)


def test_a_changed_sentence_is_not_the_same() -> None:
    """Sentences count to the letter."""
    files = shipped.encode({"double": made.key()})
    changed = files | {".json": files[".json"].replace(b"You square", b"You cube")}

    assert not shipped.same(files, changed)


def test_rounding_of_another_processor_is_the_same() -> None:
    """The last bits of a float may differ between machines."""
    one, other = made.key(), made.key()
    for seen in other.reference:
        seen["returned"].values.mul_(1 + 1e-6)

    assert shipped.same(*(shipped.encode({"double": key}) for key in (one, other)))


def test_missing_files_say_what_to_do(tmp_path: object) -> None:
    """Without data there is one line that names the command."""
    with pytest.raises(DamagedData, match="make build"):
        shipped.load("ch98_missing", tmp_path)  # type: ignore[arg-type]


def test_damaged_files_are_named() -> None:
    """A cut file is no key."""
    with pytest.raises(DamagedData):
        shipped.decode({".json": b"[1, 2", ".safetensors": b""})

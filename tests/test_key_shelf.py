"""Keys are stored until a round of grading ends, so that a run that is often killed still finishes."""

from __future__ import annotations

from pathlib import Path

import pytest

from autograder.course import compute_expected_observations
from autograder.course.chapter_judge import Judge
from autograder.course.expected_cache import ExpectedCache
from autograder.diagnosis.expected_observations import ExpectedObservations
from autograder.exercises.observation import encode_plain_data
from autograder.grading import verdict_store
from autograder.grading.verdict_paths import answer_keys_folder
from tests.sample_course import COURSE, STEM, sample_judge


class KilledError(BaseException):
    """Raised in place of killing the run."""


def test_keys_are_not_computed_twice_however_often_a_run_is_killed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each restarted run continues with the next key, all keys are right, and the round's end deletes them."""
    shelf, seed = ExpectedCache(answer_keys_folder(tmp_path, STEM), "content"), 12345
    keep, made = ExpectedCache.keep, list[tuple[str, str]]()

    def keep_and_die(self: ExpectedCache, kind: str, seed: int, drawn: int, key: ExpectedObservations) -> None:
        keep(self, kind, seed, drawn, key)
        made.append((kind, key.exercise))
        raise KilledError

    monkeypatch.setattr(ExpectedCache, "keep", keep_and_die)
    names = sample_judge().names
    for _ in range(2 * len(names)):
        judge = Judge(COURSE.folder, STEM, shelf=shelf)
        with pytest.raises(KilledError):
            all(judge.keys.full_key(name, seed) for name in names)
    judge = Judge(COURSE.folder, STEM, shelf=shelf)
    both = (judge.keys, sample_judge().keys)
    found, expected = ({name: keys.full_key(name, seed).to_plain() for name in names} for keys in both)

    assert sorted(made) == sorted({(kind, name) for kind in ("bare", "whole") for name in names})
    assert encode_plain_data(expected) == encode_plain_data(found) and judge.keys.drawn == {
        (name, seed): sample_judge().keys.drawn[name, seed] for name in names
    }
    verdict_store.end_grading_round(tmp_path, STEM)
    assert not shelf.folder.exists()


def test_what_takes_long_is_kept_before_its_key_is_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """If a key takes long, the observations of each wrong answer are stored one by one."""
    monkeypatch.setattr(compute_expected_observations, "_LONG", 0.0)
    shelf, seed, name = ExpectedCache(answer_keys_folder(tmp_path, STEM), "content"), 12345, sample_judge().names[0]
    keep, made = ExpectedCache.keep, list[str]()

    def keep_and_die(self: ExpectedCache, kind: str, seed: int, drawn: int, key: ExpectedObservations) -> None:
        keep(self, kind, seed, drawn, key)
        made.append(kind)
        raise KilledError

    monkeypatch.setattr(ExpectedCache, "keep", keep_and_die)
    wrong = [answer.tag for answer in sample_judge().banks[name] if not answer.is_right]
    for _ in range(len(wrong) + 2):
        with pytest.raises(KilledError):
            Judge(COURSE.folder, STEM, only=name, shelf=shelf).keys.full_key(name, seed)
    found = Judge(COURSE.folder, STEM, only=name, shelf=shelf).keys.full_key(name, seed)

    assert sorted(made) == sorted(["bare", "whole", *(f"{tag} on {seed}" for tag in wrong)])
    assert encode_plain_data(sample_judge().keys.full_key(name, seed).to_plain()) == encode_plain_data(found.to_plain())


def test_damaged_or_foreign_keys_are_made_again(tmp_path: Path) -> None:
    """A damaged key, or one for other content, is not used."""
    name, seed = sample_judge().names[0], 12345
    key, shelf = sample_judge().keys.reference_key(name, seed), ExpectedCache(tmp_path, "content")
    shelf.keep("bare", seed, seed, key)
    assert shelf.find("bare", name, seed)
    assert not shelf.find("whole", name, seed) and not ExpectedCache(tmp_path, "other").find("bare", name, seed)

    (path,) = tmp_path.iterdir()
    for data in (path.read_bytes()[:-9], b"", encode_plain_data([1, 2]), encode_plain_data([1, [], [["a"]]])):
        path.write_bytes(data)
        assert shelf.find("bare", name, seed) is None

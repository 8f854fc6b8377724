"""`reveal` and `shows_error`, which lesson cells use."""

from collections.abc import Iterator

import pytest
import torch
from IPython.core.interactiveshell import InteractiveShell

from autograder.notebook.reveal_and_shows_error import PredictionOutcome, reveal, shows_error


class TestReveal:
    @pytest.mark.parametrize(
        ("guess", "actual"),
        [
            ((2, 3), torch.Size([2, 3])),
            ([2, 3], (2, 3)),
            (1, 1.0),
            (True, True),
            ([1.0, 2.0], torch.tensor([1, 2])),
            (6, torch.tensor(6.0)),
            (torch.float32, torch.float32),
            ("view", "view"),
            (0.333, 1 / 3),
            ("6", 6),
            ("(2, 3)", torch.Size([2, 3])),
            ("float32", torch.float32),
            ("torch.float32", torch.float32),
        ],
    )
    def test_a_guess_that_means_the_same_holds(self, guess: object, actual: object) -> None:
        """A guess of another type with the same meaning is right."""
        assert PredictionOutcome(guess, actual).held

    @pytest.mark.parametrize(
        ("guess", "actual"),
        [
            ((3, 2), torch.Size([2, 3])),
            (1, True),
            (torch.float32, torch.float64),
            (None, 1),
            (16777217, 16777216.0),
            (2e-8, 0.0),
            (0, 2e-8),
            ("7", 6),
            ("float64", torch.float32),
            ("view(", 1),
        ],
    )
    def test_a_wrong_guess_does_not_hold(self, guess: object, actual: object) -> None:
        """Another value, or a bool for a number, is wrong."""
        assert not PredictionOutcome(guess, actual).held

    def test_no_guess_yet_still_tells(self) -> None:
        """Without a guess, the value is shown, and how to guess."""
        told = repr(PredictionOutcome(..., torch.Size([2])))

        assert "No guess yet" in told
        assert "(2,)" in told

    def test_an_open_guess_keeps_the_answer_folded(self) -> None:
        """Without a guess, the value is folded."""
        told = PredictionOutcome(..., 42)._repr_html_()

        assert told.index("<details>") < told.index("42") < told.index("</details>")


class TestNotebook:
    @pytest.fixture
    def shell(self) -> Iterator[InteractiveShell]:
        """Yield a shell with `reveal`."""
        shell = InteractiveShell.instance()
        shell.user_ns["reveal"] = reveal
        yield shell
        InteractiveShell.clear_instance()

    def run(self, shell: InteractiveShell, source: str, capsys: pytest.CaptureFixture[str]) -> str:
        """Return the output of a cell."""
        capsys.readouterr()
        shell.run_cell(source).raise_error()
        return capsys.readouterr().out

    def test_a_guess_belongs_to_its_cell(self, shell: InteractiveShell, capsys: pytest.CaptureFixture[str]) -> None:
        """A guess counts only for its own cell, which remembers it when run again."""
        shell.run_cell("guess = 6")

        assert "You predicted 6" in self.run(shell, "reveal(guess, 6)", capsys)
        assert "No guess yet" in self.run(shell, "reveal(guess, 7)", capsys)
        assert "You predicted 6" in self.run(shell, "reveal(guess, 6)", capsys)
        shell.run_cell("guess = 5")
        assert "You predicted 5" in self.run(shell, "reveal(guess, 6)", capsys)


class TestShowsError:
    def test_prints_the_message_in_one_line(self, capsys: pytest.CaptureFixture[str]) -> None:
        """The error's message is printed in one line."""
        with shows_error(RuntimeError):
            torch.ones(2, 3) @ torch.ones(2, 3)

        assert "RuntimeError: mat1 and mat2 shapes cannot be multiplied (2x3 and 2x3)\n" == capsys.readouterr().out

    def test_a_long_message_breaks_between_words(self, capsys: pytest.CaptureFixture[str]) -> None:
        """A long message is wrapped between words."""
        with shows_error(ValueError):
            raise ValueError("retain_graph " * 20)

        lines = capsys.readouterr().out.splitlines()
        assert len(lines) > 1 and {"ValueError:", "retain_graph"} == set(" ".join(lines).split())

    def test_a_block_that_succeeds_fails_the_cell(self) -> None:
        """A block without an error fails the cell."""
        with pytest.raises(AssertionError, match="ran to its end"), shows_error(RuntimeError):
            pass

    def test_another_message_fails_the_cell(self) -> None:
        """A message without the quoted text fails the cell."""
        with pytest.raises(AssertionError, match="expected a message"), shows_error(ValueError, match="dim"):
            raise ValueError("other")

    def test_another_error_passes_through(self) -> None:
        """An error of another type is not caught."""
        with pytest.raises(KeyError), shows_error(ValueError):
            raise KeyError("k")

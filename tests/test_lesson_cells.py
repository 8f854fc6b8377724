"""What lesson cells use: `reveal` and `shows_error`."""

import pytest
import torch

from autograder.notebook.lesson_cells import Reveal, shows_error


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
        ],
    )
    def test_a_guess_that_means_the_same_holds(self, guess: object, actual: object) -> None:
        """A reader need not know torch.Size or 0-dim tensors to be right."""
        assert Reveal(guess, actual).held

    @pytest.mark.parametrize(
        ("guess", "actual"),
        [((3, 2), torch.Size([2, 3])), (1, True), (torch.float32, torch.float64), (None, 1)],
    )
    def test_a_wrong_guess_does_not_hold(self, guess: object, actual: object) -> None:
        """Another value, or a bool for a number, is not the prediction."""
        assert not Reveal(guess, actual).held

    def test_no_guess_yet_still_tells(self) -> None:
        """A reader who only runs the cells sees the value and how to take part."""
        told = repr(Reveal(..., torch.Size([2])))

        assert "No guess yet" in told
        assert "(2,)" in told

    def test_an_open_guess_keeps_the_answer_folded(self) -> None:
        """Running the cells does not give the answer away before the reader asks for it."""
        told = Reveal(..., 42)._repr_html_()

        assert told.index("<details>") < told.index("42") < told.index("</details>")


class TestShowsError:
    def test_prints_the_message_in_one_line(self, capsys: pytest.CaptureFixture[str]) -> None:
        """The real message is shown, without a traceback."""
        with shows_error(RuntimeError):
            torch.ones(2, 3) @ torch.ones(2, 3)

        assert "RuntimeError: mat1 and mat2 shapes cannot be multiplied (2x3 and 2x3)\n" == capsys.readouterr().out

    def test_a_block_that_succeeds_fails_the_cell(self) -> None:
        """A claim that is no longer true is noticed."""
        with pytest.raises(AssertionError, match="ran to its end"), shows_error(RuntimeError):
            pass

    def test_another_message_fails_the_cell(self) -> None:
        """The message must still hold what the text quotes."""
        with pytest.raises(AssertionError, match="expected a message"), shows_error(ValueError, match="dim"):
            raise ValueError("other")

    def test_another_error_passes_through(self) -> None:
        """An error of another type is not swallowed."""
        with pytest.raises(KeyError), shows_error(ValueError):
            raise KeyError("k")

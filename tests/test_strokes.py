"""Synthetic digits: varied like handwriting, reproducible from a seed, and read by chapter 6's three pads."""

import pytest
import torch

from explorers.synthetic_digits import SIDE, draw_strokes, drawn_digits
from tests.ten_hands import CHOSEN_ON, MEASURED_ON, counts, lesson


class TestDrawnDigits:
    def test_each_of_the_ten_as_often(self) -> None:
        """Thirty drawings are three of each digit, shuffled."""
        drawings, labels = drawn_digits(30, seed=0)

        assert (30, SIDE, SIDE) == drawings.shape
        assert 10 * [3] == labels.bincount().tolist()
        assert labels.tolist() != sorted(labels.tolist())

    def test_paper_and_ink(self) -> None:
        """A drawing has zeros and ones, and is neither blank nor black."""
        drawings, _ = drawn_digits(200, seed=1)

        assert {0.0, 1.0} == set(drawings.unique().tolist())
        assert drawings.mean(dim=(1, 2)).min() > 0.01
        assert drawings.mean(dim=(1, 2)).max() < 0.4

    def test_a_seed_draws_the_same_again(self) -> None:
        """The same seed gives the same drawings, whatever torch's generator did."""
        first, _ = drawn_digits(10, seed=2)
        torch.rand(5)

        assert torch.equal(first, drawn_digits(10, seed=2)[0])
        assert not torch.equal(first, drawn_digits(10, seed=3)[0])

    def test_none(self) -> None:
        """Zero drawings are an empty tensor."""
        assert (0, SIDE, SIDE) == drawn_digits(0, seed=0)[0].shape

    def test_places_and_sizes_differ(self) -> None:
        """Positions and sizes vary."""
        drawings, _ = drawn_digits(100, seed=4)
        tops = torch.tensor([int(drawing.any(dim=1).nonzero().min()) for drawing in drawings])
        heights = drawings.any(dim=2).sum(dim=1)

        assert tops.unique().numel() > 8
        assert heights.max() > 1.5 * heights.min()


class TestDraw:
    def test_a_line(self) -> None:
        """A horizontal stroke with a pen of 1 is two pixels high, and as long as the width."""
        inked = draw_strokes([torch.tensor([[0.0, 0.5], [1.0, 0.5]])], width=20.0, pen=1.0)

        assert [15, 16] == inked.any(dim=1).nonzero().flatten().tolist()
        assert 20 <= inked.any(dim=0).sum() <= 22

    def test_slant_leans_to_the_right(self) -> None:
        """With a slant, the top is right of the foot."""
        inked = draw_strokes([torch.tensor([[0.5, 0.0], [0.5, 1.0]])], slant=0.3)
        rows, columns = inked.nonzero().T

        assert columns[rows == rows.min()].float().mean() > columns[rows == rows.max()].float().mean() + 4


class TestTenHands:
    """What chapter 6a promises of ten hands that a program draws in ten styles."""

    def test_styles(self) -> None:
        """Each hand draws ten digits, with another size, place, pen or slant than the others."""
        drawings = [hand.digits(0) for hand in (*CHOSEN_ON, *MEASURED_ON)]

        assert 10 == len(drawings) and 5 == len(CHOSEN_ON) == len(MEASURED_ON)
        assert {(10, SIDE, SIDE)} == {tuple(each.shape) for each in drawings}
        assert all(each.any(dim=2).any(dim=1).all() for each in drawings)
        assert 10 == len({round(float(each.mean()), 5) for each in drawings})

    @pytest.mark.night
    def test_box_helps_every_hand(self) -> None:
        """Cut to its box, no hand has more than one digit of ten less than as drawn, and small ones have far more."""
        read = counts(lesson(0, "cut-and-read"), stages=2)

        assert all(boxed >= drawn - 1 for drawn, boxed in read.values()), read
        assert all(read[name][1] > read[name][0] + 5 for name in ("small, in a corner", "tiny")), read

    @pytest.mark.night
    @pytest.mark.parametrize("seed", [0, 1, 2])
    def test_last_pad_is_the_best(self, seed: int) -> None:
        """The last pad reads the most for at least eight hands, and no hand loses more than one digit of ten."""
        read = counts(lesson(seed))

        assert sum(last >= max(drawn, boxed) for drawn, boxed, last in read.values()) >= 8, read
        assert all(boxed >= drawn - 1 and last >= boxed - 1 for drawn, boxed, last in read.values()), read
        for hands in (CHOSEN_ON, MEASURED_ON):
            _, boxed, last = zip(*(read[hand.name] for hand in hands), strict=True)
            assert sum(last) > sum(boxed), read

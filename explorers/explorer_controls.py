"""The controls of an explorer as plain data: the page draws them, and Python checks the values that it sends back."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal

ControlKind = Literal["choice", "text", "button", "switch", "part", "strokes", "lines"]
LONGEST = 200  # characters in a text field


class InvalidChoice(ValueError):
    """Raised when the page sends a value that cannot be chosen; the message tells the reader what is expected."""


@dataclass(frozen=True)
class Control:
    """One control. A `part` is a button in the picture, made with `choice_button`; its options are its values.

    `value` is a text for a choice or a text field, True or False for a switch, and unused elsewhere. In a text field,
    Enter presses the button with the name `submits`.
    """

    kind: ControlKind
    name: str
    label: str
    value: str | bool = ""
    options: tuple[str, ...] = ()
    hint: str = ""
    disabled: bool = False
    submits: str = ""

    def plain(self) -> dict[str, Any]:
        """Return the control as plain data for the page."""
        return {**asdict(self), "options": list(self.options)}

    def check(self, value: object) -> Any:
        """Return the value that the page sent, or raise Refused; some kinds check their values themselves."""
        if self.disabled:
            raise InvalidChoice(f"{self.label} cannot be used just now.")
        if self.kind == "switch":
            if not isinstance(value, bool):
                raise InvalidChoice(f"{self.label} is on or off.")
            return value
        if self.kind == "button":
            return ""
        if not isinstance(value, str) or len(value) > LONGEST:
            raise InvalidChoice(f"{self.label} takes a text of at most {LONGEST} characters.")
        if self.kind != "text" and value not in self.options:
            raise InvalidChoice(f"{self.label}: there is no {value[:40]!r} to choose.")
        return value

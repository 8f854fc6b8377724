"""Frames: messages between two processes over a pipe. Each is a JSON object and some bytes.

A frame is the lengths of its two halves (4 bytes each, big endian), the JSON text, and the bytes. The other process may
be untrusted: reading a frame builds nothing but plain data, never reads more than the limit, and stops at the deadline
(a value of `time.monotonic`).
"""

from __future__ import annotations

import json
import os
import select
import struct
import time
from dataclasses import dataclass, field
from typing import Any

MAX_FRAME_BYTES = 256 * 2**20  # bytes
READY = "(ready)"  # the "stage" of the frame that a child sends before it accepts a program
_LENGTHS = struct.Struct(">II")
_CHUNK = 1 << 20


class FrameError(Exception):
    """The bytes from the pipe are not a frame: too long, cut off, or no JSON object."""


class FrameTooLong(FrameError):
    """The frame is longer than the limit."""


@dataclass(frozen=True)
class Frame:
    """One message: a JSON object (`head`) and the bytes that belong to it (`body`)."""

    head: dict[str, Any] = field(default_factory=dict)
    body: bytes = b""


def send_frame(fd: int, frame: Frame, deadline: float | None = None) -> None:
    """Write a frame to a descriptor.

    Raises FrameTooLong, TimeoutError at the deadline, and BrokenPipeError if the other side has closed the pipe.
    """
    text = json.dumps(frame.head, separators=(",", ":")).encode()
    if len(text) + len(frame.body) > MAX_FRAME_BYTES:
        raise FrameTooLong(f"expected a message of at most {MAX_FRAME_BYTES >> 20} MB")
    _write(fd, memoryview(_LENGTHS.pack(len(text), len(frame.body)) + text + frame.body), deadline)


def receive_frame(
    fd: int, deadline: float | None = None, limit: int = MAX_FRAME_BYTES, text_limit: int = MAX_FRAME_BYTES
) -> Frame | None:
    """Read the next frame; return None if the other side has closed the pipe. Raises FrameError and TimeoutError.

    `limit` bounds the whole frame, and `text_limit` its JSON text (bytes).
    """
    lengths = _read(fd, _LENGTHS.size, deadline)
    if not lengths:
        return None
    if len(lengths) < _LENGTHS.size:
        raise FrameError("the message is cut off")
    text_length, body_length = _LENGTHS.unpack(lengths)
    if text_length > text_limit or text_length + body_length > limit:
        raise FrameTooLong(f"expected a message of at most {limit >> 20} MB")
    text, body = _read(fd, text_length, deadline), _read(fd, body_length, deadline)
    if (len(text), len(body)) != (text_length, body_length):
        raise FrameError("the message is cut off")
    return Frame(_object(text), body)


def redirect_to_null(fd: int) -> None:
    """Redirect a descriptor to the null device."""
    null = os.open(os.devnull, os.O_RDWR)
    os.dup2(null, fd)
    os.close(null)


def _object(text: bytes) -> dict[str, Any]:
    try:
        head = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise FrameError("the message is no JSON") from error
    if not isinstance(head, dict):
        raise FrameError("the message is no JSON object")
    return head


def _read(fd: int, size: int, deadline: float | None) -> bytes:
    """Return exactly `size` bytes, or fewer if the pipe ends."""
    parts, left = [], size
    while left:
        if deadline is not None:
            _wait(fd, select.POLLIN, deadline)
        part = os.read(fd, min(left, _CHUNK))
        if not part:
            break
        parts.append(part)
        left -= len(part)
    return b"".join(parts)


def _write(fd: int, data: memoryview, deadline: float | None) -> None:
    while data and deadline is None:
        data = data[os.write(fd, data) :]  # without a deadline, wait as long as the other side needs
    while data:
        _wait(fd, select.POLLOUT, deadline)
        # A pipe that polls as writable takes this much without blocking.
        data = data[os.write(fd, data[: select.PIPE_BUF]) :]


def _wait(fd: int, event: int, deadline: float | None) -> None:
    poll = select.poll()
    poll.register(fd, event)
    left = None if deadline is None else max(0.0, deadline - time.monotonic()) * 1000
    if not poll.poll(left):
        raise TimeoutError("nothing came over the pipe in time")

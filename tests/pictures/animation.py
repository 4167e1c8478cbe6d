"""An animated WebP of pictures that a browser took. The format: https://developers.google.com/speed/webp/docs/riff_container"""

from dataclasses import dataclass
from pathlib import Path

ANIMATED = 0x02  # flag of a file
OVER_THE_LAST = 0x02  # flag of a frame: it replaces what lies below, and stays


@dataclass(frozen=True)
class Frame:
    """A picture as WebP without transparency, where it stands in the film, and how long."""

    picture: bytes
    x: int = 0  # pixels, even
    y: int = 0
    milliseconds: int = 100


def write(file: Path, frames: list[Frame]) -> None:
    """Write the frames as a film that repeats for ever. The first frame has the size of all."""
    width, height = _size(_find_image(frames[0].picture))
    header = bytes([ANIMATED, 0, 0, 0]) + _three(width - 1) + _three(height - 1)
    body = b"WEBP" + _chunk(b"VP8X", header) + _chunk(b"ANIM", bytes(6))
    file.write_bytes(_chunk(b"RIFF", body + b"".join(map(_frame, frames))))


def _frame(frame: Frame) -> bytes:
    image = _find_image(frame.picture)
    width, height = _size(image)
    place = (frame.x // 2, frame.y // 2, width - 1, height - 1, frame.milliseconds)
    return _chunk(b"ANMF", b"".join(map(_three, place)) + bytes([OVER_THE_LAST]) + _chunk(b"VP8 ", image))


def _find_image(picture: bytes) -> bytes:
    """The data of the lossy image in a file."""
    at = picture.index(b"VP8 ")
    size = int.from_bytes(picture[at + 4 : at + 8], "little")
    return picture[at + 8 : at + 8 + size]


def _size(image: bytes) -> tuple[int, int]:
    """Width and height in pixels, from the header of a key frame (RFC 6386, section 9.1)."""
    return int.from_bytes(image[6:8], "little") & 0x3FFF, int.from_bytes(image[8:10], "little") & 0x3FFF


def _three(number: int) -> bytes:
    return number.to_bytes(3, "little")


def _chunk(name: bytes, data: bytes) -> bytes:
    return name + len(data).to_bytes(4, "little") + data + bytes(len(data) % 2)

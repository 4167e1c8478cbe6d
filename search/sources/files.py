"""List and read the files of a source folder. Nothing outside the folder is read."""

import os
import stat
from collections.abc import Container
from pathlib import Path
from urllib.parse import quote

MARKDOWN = (".md", ".markdown", ".mdx")  # the endings of its files
MAX_BYTES = 5 * 1024 * 1024  # of a page
_OF_PACKAGES = ("node_modules",)


def names_below(folder: Path, skipped: Container[str] = _OF_PACKAGES) -> list[str]:
    """The files below a folder in order, as `guide/install.md`. Hidden files and skipped folders are left out.

    Links to folders are not followed.
    """
    found: list[str] = []
    for place, folders, files in os.walk(folder):
        folders[:] = [name for name in folders if not name.startswith(".") and name not in skipped]
        below = Path(place).relative_to(folder)
        found += [(below / name).as_posix() for name in files if not name.startswith(".")]
    return sorted(found, key=lambda name: name.split("/"))


def read_inside(root: Path, file: Path, most: int = MAX_BYTES) -> bytes:
    """The bytes of a file in a folder. Raises ValueError with the end of a sentence: "lies outside the source folder".

    `most` are whole MiB.
    """
    try:
        if not file.resolve().is_relative_to(root.resolve()):
            raise ValueError("lies outside the source folder")
        found = file.stat()
        if not stat.S_ISREG(found.st_mode):
            raise ValueError("is no file")
        if found.st_size > most:
            raise ValueError(f"is larger than {most // 1024**2} MiB")
        return file.read_bytes()
    except RuntimeError:
        raise ValueError("is a link that leads to itself") from None
    except OSError as failure:
        raise ValueError((failure.strerror or "cannot be read").lower()) from None


def text_inside(root: Path, file: Path, most: int = MAX_BYTES) -> str:
    """The text of a file in a folder, which must be UTF-8. Raises ValueError as `read_inside` does."""
    try:
        text = read_inside(root, file, most).decode("utf-8-sig")
    except UnicodeDecodeError:
        raise ValueError("is not UTF-8") from None
    return text.replace("\r\n", "\n").replace("\r", "\n")


def quoted(name: str) -> str:
    """A file's name as a part of an address. Raises ValueError, as `read_inside` does, where it is not UTF-8."""
    try:
        return quote(name)
    except UnicodeEncodeError:
        raise ValueError("has a name that is not UTF-8") from None

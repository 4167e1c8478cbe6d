"""List and read the files of a source folder. Nothing outside the folder is read."""

import errno
import os
import stat
from collections.abc import Container
from pathlib import Path
from urllib.parse import quote

from docsite.core.unicode.normalization import cap_marks

MARKDOWN = (".md", ".markdown", ".mdx", ".mdoc")  # file name endings
MAX_BYTES = 5 * 1024 * 1024  # of one file
_PACKAGE_FOLDERS = ("node_modules",)


def list_files(folder: Path, skipped: Container[str] = _PACKAGE_FOLDERS) -> list[str]:
    """The relative paths of all files in a folder and its subfolders, sorted, such as `guide/install.md`.

    Hidden files, hidden folders and `skipped` folders are left out. Links to folders are not followed.
    """
    paths: list[str] = []
    for current, folders, files in os.walk(folder):
        folders[:] = [name for name in folders if not name.startswith(".") and name not in skipped]
        relative = Path(current).relative_to(folder)
        paths += [(relative / name).as_posix() for name in files if not name.startswith(".")]
    return sorted(paths, key=lambda path: path.split("/"))


def resolve_links(path: Path) -> Path:
    """The absolute path without links. A link that leads to itself stays; `Path.resolve` raises before Python 3.13."""
    return Path(os.path.realpath(path))


def read_in_folder(root: Path, file: Path, max_bytes: int = MAX_BYTES) -> bytes:
    """The bytes of a file that lies in the folder `root`. `max_bytes` must be whole MiB.

    Raises ValueError with the end of a sentence that begins with the file's name: "lies outside the source folder".
    """
    try:
        if not resolve_links(file).is_relative_to(resolve_links(root)):
            raise ValueError("lies outside the source folder")
        status = file.stat()
        if not stat.S_ISREG(status.st_mode):
            raise ValueError("is no file")
        if status.st_size > max_bytes:
            raise ValueError(f"is larger than {max_bytes // 1024**2} MiB")
        return file.read_bytes()
    except OSError as failure:
        if failure.errno == errno.ELOOP:
            raise ValueError("is a link that leads to itself") from None
        raise ValueError((failure.strerror or "cannot be read").lower()) from None


def read_text_in_folder(root: Path, file: Path, max_bytes: int = MAX_BYTES) -> str:
    """The text of a UTF-8 file that lies in the folder `root`. Line ends are LF. Raises like `read_in_folder`.

    It has no long runs of combining marks, since docutils and the parser of Python normalize it.
    """
    try:
        text = read_in_folder(root, file, max_bytes).decode("utf-8-sig")
    except UnicodeDecodeError:
        raise ValueError("is not UTF-8") from None
    return cap_marks(text.replace("\r\n", "\n").replace("\r", "\n"))


def read_text_or_nothing(root: Path, file: Path, max_bytes: int = MAX_BYTES) -> str:
    """The text of a file that lies in the folder `root`; empty when it cannot be read."""
    try:
        return read_text_in_folder(root, file, max_bytes)
    except ValueError:
        return ""


def quote_path(path: str) -> str:
    """Percent-encode a file's path for a URL. Raises ValueError when it is not UTF-8; the caller names the file."""
    try:
        return quote(path)
    except UnicodeEncodeError:
        raise ValueError("has a name that is not UTF-8") from None

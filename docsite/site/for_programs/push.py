#!/usr/bin/env python3
"""Push a folder of documentation. It needs only Python 3.8 or newer, and sends only the files that changed.

    DOCS_KEY=svc_... python3 push.py FOLDER https://HOST/v1/sources/PROJECT/NAME
        [--preview [--fail-on-lost]] [--summary FILE]

With --preview nothing changes. A summary in Markdown goes to standard output, and is appended to FILE. The exit status
is 0; 1 if golden questions would lose their answer (--preview), or also questions of readers (--fail-on-lost); 2 if the
push failed.
"""

from __future__ import annotations

import argparse
import hashlib
import io
import json
import os
import sys
import tarfile
import tempfile
import time
from http.client import HTTPException
from pathlib import Path
from typing import Any, BinaryIO
from urllib.error import HTTPError, URLError
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit
from urllib.request import Request, urlopen

SKIPPED_FOLDERS = {".git", "node_modules"}
MAX_FILE_BYTES = 5 * 1024 * 1024  # the service skips larger files
MANIFEST = ".push-manifest.json"
TRIES = 5  # where the service is busy
SECONDS = 120  # without a byte from the service
MAX_LISTED = 20


class PushFailed(Exception):
    """The push failed. The message is a sentence for people."""

    def __init__(self, sentence: str, status: int = 0) -> None:
        super().__init__(sentence)
        self.status = status


def find_files(folder: Path) -> dict[str, Path]:
    """The files of a folder by their relative paths. Links count if they lead to a file in the folder."""
    inside = folder.resolve()
    files: dict[str, Path] = {}
    for parent, folders, names in os.walk(inside):
        folders[:] = sorted(name for name in folders if name not in SKIPPED_FOLDERS)
        for name in sorted(names):
            file = Path(parent, name)
            target = Path(os.path.realpath(file))  # `resolve` fails with links that lead to themselves
            if target.is_file() and inside in target.parents and target.stat().st_size <= MAX_FILE_BYTES:
                files[file.relative_to(inside).as_posix()] = file
    return files


def send(method: str, url: str, body: bytes | BinaryIO, kind: str, key: str) -> Any:
    """The response of the service. Waits and tries again while the service is busy. Raises PushFailed."""
    size = len(body) if isinstance(body, bytes) else body.seek(0, io.SEEK_END)
    headers = {"Authorization": f"Bearer {key}", "Content-Type": kind, "Content-Length": str(size)}
    for attempt in range(1, TRIES + 1):
        if not isinstance(body, bytes):
            body.seek(0)
        try:
            return urlopen(Request(url, data=body, headers=headers, method=method), timeout=SECONDS)
        except HTTPError as error:
            if error.code in (429, 503) and attempt < TRIES:
                time.sleep(min(int(error.headers.get("Retry-After") or 5), 60))
                continue
            raise PushFailed(describe_error(error), error.code) from None
        except (URLError, OSError, HTTPException) as error:
            raise PushFailed(f"The service cannot be reached: {getattr(error, 'reason', error)}.") from None
    raise AssertionError


def describe_error(error: HTTPError) -> str:
    """The sentence of an error, and its details."""
    try:
        answer = json.loads(error.read())
        details = [detail["message"] for detail in answer.get("details", [])]
        return " ".join([f"{error.code}: {answer['error']}", *details])
    except (ValueError, KeyError, TypeError, AttributeError):
        return f"{error.code}: {error.reason}"


def pack(files: dict[str, Path], manifest: bytes | None) -> BinaryIO:
    """A compressed tar of these files, in a temporary file."""
    packed = tempfile.TemporaryFile()  # noqa: SIM115  # it lives until it is sent
    with tarfile.open(fileobj=packed, mode="w:gz", compresslevel=6) as archive:
        if manifest is not None:
            add(archive, MANIFEST, manifest)
        for path, file in files.items():
            add(archive, path, file.read_bytes())
    return packed


def add(archive: tarfile.TarFile, path: str, content: bytes) -> None:
    """Add a file with nothing but its path and its content."""
    entry = tarfile.TarInfo(path)
    entry.size = len(content)
    archive.addfile(entry, io.BytesIO(content))


def push(folder: Path, url: str, key: str, preview: bool) -> dict[str, Any]:
    """Send the files of a folder that the service does not have. Returns the last line of the push."""
    files = find_files(folder)
    digests = {path: hashlib.sha256(file.read_bytes()).hexdigest() for path, file in files.items()}
    manifest: bytes | None = json.dumps({"files": digests}).encode()
    parts = urlsplit(url)
    ask = urlunsplit(parts._replace(path=f"{parts.path}/manifest", query=""))
    assert manifest
    try:
        with send("POST", ask, manifest, "application/json", key) as response:
            missing = json.load(response)["missing"]
    except PushFailed as failure:
        if failure.status != 413:
            raise
        missing, manifest = list(files), None  # too many files for a manifest: send all of them
    query = {"root": ".", **dict(parse_qsl(parts.query)), **({"preview": "1"} if preview else {})}
    query.update({"delta": "1"} if manifest else {})
    address = urlunsplit(parts._replace(query=urlencode(query)))
    with pack({path: files[path] for path in missing}, manifest) as packed:
        size = packed.seek(0, io.SEEK_END)
        say(f"Sending {len(missing)} of {len(files)} files, {size:,} bytes.")
        with send("PUT", address, packed, "application/gzip", key) as response:
            return read_lines(response)


def read_lines(lines: Any) -> dict[str, Any]:
    """The last line of a push. Prints those before it."""
    shown = ""
    try:
        for line in lines:
            report = json.loads(line)
            if report["event"] == "end":
                return dict(report)
            if report["event"] == "error":
                raise PushFailed(report["error"])
            if report["message"] != shown:
                shown = report["message"]
                say(shown)
    except (OSError, ValueError, HTTPException):
        raise PushFailed("The answer of the service broke off.") from None
    raise PushFailed("The answer of the service broke off.")


def summarize(report: dict[str, Any]) -> str:
    """What a push has changed, or would change, as Markdown."""
    is_preview, golden, cited = report["preview"], report["goldenQuestions"], report["citedPages"]
    would = "would lose" if is_preview else "lost"
    lines = [f"### Documentation {'preview' if is_preview else 'pushed'}: {report['source']}", ""]
    if report["result"] == "unchanged":
        lines += ["Nothing changes." if is_preview else "Nothing changed.", ""]
    else:
        counts = ", ".join(f"{report[kind]} {kind}" for kind in ("added", "changed", "removed", "unchanged"))
        lines += [f"Pages: {counts}.", ""]
    if golden and golden["total"]:
        passing = f"{golden['passedBefore']} of {golden['asked']} pass before, {golden['passedAfter']} after"
        lines += [f"Golden questions: {passing}.", ""]
        lines += bullets(f"**{len(golden['lost'])} {would} their answer:**", map(describe_question, golden["lost"]))
        lines += bullets("Answered from now on:", (quote(question["question"]) for question in golden["gained"]))
    if comment := report.get("replayComment"):
        lines += [comment["markdown"]]
    if cited:
        rows = (f"{quote(page['path'])}: {page['answers']} answers" for page in cited["pages"])
        lines += bullets(f"Removed pages that answers of the last {cited['days']} days cite:", rows)
    lines += bullets("Not read:", (f"{quote(bad['file'])} {bad['reason']}" for bad in report["skipped"]))
    for kind, paths in report["pages"].items():
        lines += bullets(f"Pages {kind}:", map(quote, paths))
    return "\n".join(lines)


def describe_question(question: dict[str, Any]) -> str:
    """A question that loses its answer, with the pages that it must cite."""
    expected, cited = (", ".join(map(quote, question[name])) for name in ("expected", "citedAfter"))
    return f"{quote(question['question'])} must cite {expected or 'nothing'}, and cites {cited or 'nothing'}"


def bullets(title: str, items: Any) -> list[str]:
    """A list with its title; nothing for no items."""
    rows = list(items)
    more = [f"- and {len(rows) - MAX_LISTED} more"] if len(rows) > MAX_LISTED else []
    return [title, "", *(f"- {row}" for row in rows[:MAX_LISTED]), *more, ""] if rows else []


def quote(text: str) -> str:
    """A text that Markdown shows as it is."""
    return "`{}`".format(" ".join(text.replace("`", "'").split()))


def say(line: str) -> None:
    """Print a line of progress."""
    sys.stderr.write(f"{line}\n")


def main() -> int:
    """Run the command. Returns the exit status."""
    parser = argparse.ArgumentParser(description="Push a folder of documentation. The admin key is in DOCS_KEY.")
    parser.add_argument("folder", type=Path)
    parser.add_argument("url", help="https://HOST/v1/sources/PROJECT/NAME, with options such as ?under=/api")
    parser.add_argument("--preview", action="store_true", help="change nothing, and say what would change")
    parser.add_argument("--fail-on-lost", action="store_true", help="with --preview: fail for readers' questions, too")
    parser.add_argument("--summary", type=Path, help="append the summary to this file")
    arguments = parser.parse_args()
    key = os.environ.get("DOCS_KEY", "")
    try:
        if not arguments.folder.is_dir():
            raise PushFailed(f"{arguments.folder} is no folder.")
        if not key:
            raise PushFailed("Set DOCS_KEY to an admin key with the scope write.")
        report = push(arguments.folder, arguments.url, key, arguments.preview)
    except PushFailed as failure:
        say(str(failure))
        return 2
    except Exception as error:  # 1 would say that a question loses its answer
        say(f"The push failed: {type(error).__name__}: {error}")
        return 2
    summary = summarize(report)
    sys.stdout.write(summary)
    if arguments.summary:
        with arguments.summary.open("a", encoding="utf-8") as file:
            file.write(summary)
    counted = ("goldenQuestions", "replay") if arguments.fail_on_lost else ("goldenQuestions",)
    lost = any((report.get(name) or {}).get("lost") for name in counted)
    return 1 if arguments.preview and lost else 0


if __name__ == "__main__":
    sys.exit(main())

"""Pages that a repository has renamed, as git knows them, with what the site had before and after.

git calls a file renamed if half of its lines stay. So pages that were written anew under another name are not in it.
"""

import random
import re
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path, PurePosixPath

from docsite.extras.dead_ends import fingerprints
from docsite.extras.dead_ends.matching import Known

_SUFFIXES = (".md", ".mdx", ".rst", ".markdown")
_ROOTS = re.compile(r"(?:^|/)(?:docs?|content|website|source|documentation|manual)/", re.IGNORECASE)
_NO_PAGES = re.compile(r"(?:^|/)(?:\.|_|node_modules|tests?/|changelog|license|contributing)", re.IGNORECASE)
_MAX_RENAMED = 60  # of one commit, so that none is most of the set


@dataclass
class Case:
    """A page that one commit has renamed, and the pages after it. `truth` is where it is now."""

    repository: str
    missing: Known
    truth: str
    after: list[Known]


@dataclass
class _Commit:
    name: str
    renamed: list[tuple[str, str]] = field(default_factory=list)


class Repository:
    """A git directory."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.name = folder.parent.name
        self._blobs: dict[str, tuple[str, bytes]] = {}

    def git(self, *arguments: str) -> str:
        command = [
            "git",
            "-C",
            str(self.folder),
            "-c",
            "core.quotePath=false",
            "-c",
            "diff.renameLimit=5000",
            *arguments,
        ]
        return subprocess.run(command, check=True, capture_output=True, timeout=500).stdout.decode("utf-8", "replace")

    def list_cases(self, limit: int, seed: int = 1) -> Iterator[Case]:
        """Cases of random commits, until there are so many renamed pages."""
        commits = [one for one in self._list_commits() if one.renamed]
        chance = random.Random(seed)
        chance.shuffle(commits)
        count = 0
        for commit in commits:
            before, after = self._list_pages(f"{commit.name}^"), self._list_pages(commit.name)
            pages = [self._describe(path, blob, int(path not in before)) for path, blob in sorted(after.items())]
            for old, new in chance.sample(commit.renamed, min(_MAX_RENAMED, len(commit.renamed))):
                path, truth = path_of(old), path_of(new)
                if path in before and path not in after and truth in after:
                    count += 1
                    yield Case(self.name, self._describe(path, before[path], 1), truth, pages)
            if count >= limit:
                return

    def _list_commits(self) -> list[_Commit]:
        found: list[_Commit] = []
        pages = [f"*{suffix}" for suffix in _SUFFIXES]
        options = ("--no-merges", "-M50%", "--diff-filter=R", "--name-status", "--format=commit %H")
        log = self.git("log", *options, "--", *pages)
        for line in log.splitlines():
            if line.startswith("commit "):
                found.append(_Commit(line.split()[1]))
            elif line.startswith("R"):
                _, old, new = line.split("\t")
                if is_page(old) and is_page(new) and path_of(old) != path_of(new):
                    found[-1].renamed.append((old, new))
        return found

    def _list_pages(self, commit: str) -> dict[str, str]:
        """The blob of each page, by its path on the site."""
        rows = (line.split("\t", 1) for line in self.git("ls-tree", "-r", commit).splitlines())
        return {path_of(file): facts.split()[2] for facts, file in rows if is_page(file)}

    def _describe(self, path: str, blob: str, generation: int) -> Known:
        if blob not in self._blobs:
            text = self._read(blob)
            self._blobs[blob] = title_of(text), fingerprints.sketch(text)
        title, sketch = self._blobs[blob]
        return Known(path, title or path.rsplit("/", 1)[-1], sketch, generation)

    def _read(self, blob: str) -> str:
        batch = self._batch
        assert batch.stdin is not None
        assert batch.stdout is not None
        batch.stdin.write(f"{blob}\n".encode())
        batch.stdin.flush()
        size = int(batch.stdout.readline().split()[2])
        text = batch.stdout.read(size + 1)[:-1]
        return text.decode("utf-8", "replace")

    @cached_property
    def _batch(self) -> "subprocess.Popen[bytes]":
        command = ["git", "-C", str(self.folder), "cat-file", "--batch"]
        return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)


def is_page(file: str) -> bool:
    """Whether a file is a page of a documentation site."""
    return file.endswith(_SUFFIXES) and bool(_ROOTS.search(file)) and not _NO_PAGES.search(file)


def path_of(file: str) -> str:
    """The path of a file's page on the site."""
    path = PurePosixPath("/", _ROOTS.split(file, maxsplit=1)[-1]).with_suffix("")
    return str(path.parent if path.name.lower() in ("index", "readme", "_index") else path)


def title_of(text: str) -> str:
    """The title of a page: of its front matter, or its first heading."""
    found = (
        re.search(r"\A---\n(?:.*\n)*?title: *[\"']?(.+?)[\"']?\n", text[:3_000])
        or re.search(r"^# +(.+)", text[:20_000], re.MULTILINE)
        or re.search(r"^(\S.*)\n[=*~\-#]{3,} *$", text[:20_000], re.MULTILINE)
    )
    return found[1].strip() if found else ""

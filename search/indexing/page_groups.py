"""The groups of readers of a page: the page names them, else the rules of its folder, else its source."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from docsite.core.access.readers import decode_groups, encode_groups, parse_groups, reader_groups
from docsite.core.paths import normalize
from docsite.core.tenants.models import Project
from search.models import Document, SearchSettings, Source

MAX_FOLDERS = 200


@dataclass(frozen=True)
class GroupRules:
    """The rules of a project: groups by folder, and by the id of a source (None: the pages that a command read)."""

    folders: Mapping[str, tuple[str, ...]]
    sources: Mapping[int | None, tuple[str, ...]]

    @classmethod
    def load(cls, project: Project) -> "GroupRules":
        """The present rules of a project."""
        lines = SearchSettings.objects.filter(project=project).values_list("folder_groups", flat=True).first()
        rows = Source.objects.filter(project=project).exclude(groups="")
        sources = {
            None if by_command else pk: parse_groups(groups)
            for pk, by_command, groups in rows.values_list("pk", "by_command", "groups")
        }
        return cls(parse_folders(lines or ""), sources)

    def with_source(self, source: int | None, groups: str) -> "GroupRules":
        """The rules with other groups of a source."""
        return replace(self, sources={**self.sources, source: parse_groups(groups)})

    def find(self, path: str, source: int | None, own: Sequence[str] | None) -> str:
        """The groups of a page as a column holds them. `own` are the groups in its front matter, None without any.

        Of several folders the innermost decides.
        """
        if own is not None:
            return encode_groups(own)
        folder = path.casefold()  # a site may ignore case, and a page must not get out of its folder by that
        while folder:
            if folder in self.folders:
                return encode_groups(self.folders[folder])
            folder = "" if folder == "/" else folder.rpartition("/")[0] or "/"
        return encode_groups(self.sources.get(source, ()))


def find_hidden(project: Project, paths: Collection[str]) -> set[str]:
    """The paths that the present reader must not see: those of protected pages, and others in protected folders."""
    groups = reader_groups()
    if groups is None:
        return set()
    rules = GroupRules.load(project)
    protected = Document.indexed.filter(project=project).exclude(groups="")
    columns = dict(protected.values_list("path", "groups"))
    if not columns and not rules.folders:
        return set()
    public = set(Document.indexed.filter(project=project, groups="").values_list("path", flat=True))
    for path in paths:
        if path not in public and path not in columns:
            columns[path] = rules.find(path, None, None) if rules.folders else ""
    return {path for path in paths if columns.get(path) and groups.isdisjoint(decode_groups(columns[path]))}


def parse_folders(text: str) -> dict[str, tuple[str, ...]]:
    """Folders with their groups, from lines such as `/internal: staff, partners`.

    A folder is the page at that path with all pages below it. Lines that begin with `#` are comments. Raises
    ValueError with a sentence.
    """
    folders: dict[str, tuple[str, ...]] = {}
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        folder, colon, names = line.partition(":")
        if not colon or not folder.strip().startswith("/") or not names.strip(" ,\t"):
            raise ValueError(f"Line {number}: write a path and groups, such as /internal: staff, partners.")
        try:
            groups = parse_groups(names)
        except ValueError as wrong:
            raise ValueError(f"Line {number} {wrong}.") from None
        folders[normalize(folder.strip()).casefold()] = groups
    if len(folders) > MAX_FOLDERS:
        raise ValueError(f"There are more than {MAX_FOLDERS} folders.")
    return folders

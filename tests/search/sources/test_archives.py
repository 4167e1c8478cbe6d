"""Archives: they unpack into a folder that is gone afterwards, and never anywhere else."""

import io
import stat
import tarfile
import zipfile

import pytest

from search.sources import archives
from search.sources.archives import is_archive, unpack

FILES = {"repo-main/index.md": b"# One", "repo-main/guide/a.md": b"# Two", "repo-main/empty.md": b""}
KINDS = {".zip": "", ".tar": "w", ".tar.gz": "w:gz", ".tgz": "w:gz", ".tar.bz2": "w:bz2", ".tar.xz": "w:xz"}


def packed(folder, files, ending=".zip"):
    """An archive of some files; a file may be given as a TarInfo or ZipInfo with its content."""
    file = folder / f"docs{ending}"
    if ending == ".zip":
        with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, content in files.items():
                archive.writestr(name, content)
        return file
    with tarfile.open(file, KINDS[ending]) as archive:
        for name, content in files.items():
            entry = name if isinstance(name, tarfile.TarInfo) else tarfile.TarInfo(name)
            entry.size = len(content)
            archive.addfile(entry, io.BytesIO(content))
    return file


def names(root):
    return sorted(file.relative_to(root).as_posix() for file in root.rglob("*"))


def entry(name, kind, target="/etc/passwd"):
    """A tar entry that is no file."""
    made = tarfile.TarInfo(name)
    made.type, made.linkname = kind, target
    return made


@pytest.mark.parametrize("ending", KINDS)
def test_an_archive_is_a_folder_while_it_is_read(tmp_path, ending):
    file = packed(tmp_path, FILES, ending)
    assert is_archive(file)
    with unpack(file) as root:
        assert names(root) == ["empty.md", "guide", "guide/a.md", "index.md"]
        assert (root / "guide/a.md").read_bytes() == b"# Two"
    assert not root.exists()


@pytest.mark.parametrize("name", ["docs.md", "docs.gz", "zip", "docs.tar.zst", "docs"])
def test_other_files_are_no_archives(tmp_path, name):
    assert not is_archive(tmp_path / name)


def test_the_folder_is_gone_when_its_reader_fails(tmp_path):
    with pytest.raises(KeyError), unpack(packed(tmp_path, FILES)) as root:
        raise KeyError
    assert not root.exists()


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({"a.md": b"", "b/c.md": b""}, ["a.md", "b", "b/c.md"]),
        ({"docs/a.md": b"", "__MACOSX/docs/._a.md": b""}, ["a.md"]),
        ({"a.md": b""}, ["a.md"]),
        ({"a/b/c.md": b""}, ["b", "b/c.md"]),
    ],
)
def test_one_folder_that_holds_all_is_stepped_into(tmp_path, files, expected):
    with unpack(packed(tmp_path, files)) as root:
        assert names(root) == expected


@pytest.mark.parametrize("ending", [".zip", ".tar.gz"])
@pytest.mark.parametrize("name", ["../a.md", "/a.md", "b/../../a.md", "C:/a.md", "c:a.md", "..\\a.md", "b\\a.md"])
def test_a_name_that_leads_out_is_refused(tmp_path, name, ending):
    folder = tmp_path / "archives"
    folder.mkdir()
    with (
        pytest.raises(ValueError, match=r"docs\.\S+ has a name that leads out of it"),
        unpack(packed(folder, {"fine.md": b"x", name: b"x"}, ending)),
    ):
        pytest.fail("it was unpacked")
    assert names(tmp_path) == ["archives", f"archives/docs{ending}"]


def test_links_and_devices_are_passed_over(tmp_path):
    kinds = {"link": tarfile.SYMTYPE, "hard": tarfile.LNKTYPE, "pipe": tarfile.FIFOTYPE, "device": tarfile.CHRTYPE}
    files = {entry(name, kind): b"" for name, kind in kinds.items()} | {"link/a.md": b"x", "b.md": b"y"}
    with unpack(packed(tmp_path, files, ".tar")) as root:
        assert names(root) == ["b.md", "link", "link/a.md"]
        assert not (root / "link").is_symlink()
    link = zipfile.ZipInfo("link.md")
    link.external_attr = (stat.S_IFLNK | 0o777) << 16
    with unpack(packed(tmp_path, {link: b"/etc/passwd", "a.md": b"x"})) as root:
        assert names(root) == ["a.md"]


@pytest.mark.parametrize("ending", [".zip", ".tar.xz"])
def test_what_is_too_large_for_a_page_stays_packed(tmp_path, monkeypatch, ending):
    monkeypatch.setattr(archives, "MAX_FILE_BYTES", 100)
    with unpack(packed(tmp_path, {"a.md": b"x" * 100, "b.md": b"x" * 101}, ending)) as root:
        assert names(root) == ["a.md"]


@pytest.mark.parametrize("ending", [".zip", ".tar.gz"])
def test_too_many_files_are_refused(tmp_path, monkeypatch, ending):
    monkeypatch.setattr(archives, "MAX_FILES", 3)
    with unpack(packed(tmp_path, {f"{n}.md": b"" for n in range(3)}, ending)):
        pass
    with (
        pytest.raises(ValueError, match="holds more than 3 files"),
        unpack(packed(tmp_path, {f"{n}.md": b"" for n in range(4)}, ending)),
    ):
        pass


@pytest.mark.parametrize("ending", [".zip", ".tar.gz", ".tar.bz2", ".tar.xz"])
def test_a_bomb_is_refused_by_its_ratio(tmp_path, monkeypatch, ending):
    monkeypatch.setattr(archives, "_ALWAYS_ALLOWED", 1024**2)
    zeros = bytes(4 * 1024**2)
    with pytest.raises(ValueError, match="unpacks to more than"), unpack(packed(tmp_path, {"a.md": zeros}, ending)):
        pass


def test_a_bomb_in_what_is_passed_over_is_refused_too(tmp_path, monkeypatch):
    monkeypatch.setattr(archives, "MAX_FILE_BYTES", 100)
    monkeypatch.setattr(archives, "_ALWAYS_ALLOWED", 1024**2)
    with (
        pytest.raises(ValueError, match="unpacks to more than 1 MiB"),
        unpack(packed(tmp_path, {"a.bin": bytes(4 * 1024**2)}, ".tar.gz")),
    ):
        pass


def test_a_file_that_lies_about_its_size_is_refused(tmp_path, monkeypatch):
    file = packed(tmp_path, {"a.md": b"x" * 5000})
    directory = file.read_bytes()
    file.write_bytes(directory.replace((5000).to_bytes(4, "little"), (50).to_bytes(4, "little")))
    with pytest.raises(ValueError, match="is damaged"), unpack(file):
        pass


def test_an_encrypted_archive_is_refused(tmp_path):
    file = packed(tmp_path, {"a.md": b"x"})
    content = bytearray(file.read_bytes())
    content[content.index(b"PK\x01\x02") + 8] |= 1  # the flag in the central directory
    file.write_bytes(content)
    with pytest.raises(ValueError, match=r"^docs\.zip is encrypted$"), unpack(file):
        pass


@pytest.mark.parametrize("ending", KINDS)
@pytest.mark.parametrize(
    "damage", [lambda _: b"", lambda _: b"no archive at all", lambda whole: whole[: len(whole) // 2]]
)
def test_a_damaged_archive_is_refused(tmp_path, ending, damage):
    file = packed(tmp_path, {"a.md": bytes(range(256)) * 100}, ending)
    file.write_bytes(damage(file.read_bytes()))
    with pytest.raises(ValueError, match="cannot be unpacked: it is damaged"), unpack(file):
        pass


@pytest.mark.parametrize("files", [{"a": b"x", "a/b.md": b"x"}, {"a/b.md": b"x", "a": b"x"}, {"x" * 300: b"x"}])
def test_names_that_no_folder_can_hold_are_refused(tmp_path, files):
    with pytest.raises(ValueError, match="cannot be unpacked"), unpack(packed(tmp_path, files)):
        pass

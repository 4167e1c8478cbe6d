"""Archives of pushes: nothing in them is trusted."""

import io
import stat
import tarfile
import zipfile

import pytest

from search.pushes import archive
from search.sources import archives
from tests.search.pushes.archives import PAGES, tar, zipped


def unpack(folder, body):
    file = folder / "body"
    file.write_bytes(body)
    root = folder / "unpacked"
    root.mkdir()
    with file.open("rb") as stream:
        return archive.unpack(stream, root), root


def entry(name, kind):
    made = tarfile.TarInfo(name)
    made.type, made.linkname = kind, "/etc/passwd"
    return made


def names(root):
    return sorted(file.relative_to(root).as_posix() for file in root.rglob("*") if file.is_file())


@pytest.mark.parametrize("body", [tar(PAGES, kind) for kind in ("", "gz", "bz2", "xz")] + [zipped(PAGES)])
def test_its_kind_is_found_by_its_first_bytes_and_images_stay_packed(tmp_path, body):
    contents, root = unpack(tmp_path, body)
    assert names(root) == sorted(contents.digests) == ["docs/index.md", "docs/install.md"]


@pytest.mark.parametrize("name", ["../a.md", "/a.md", "a/../../b.md", "C:/a.md", "a\\b.md", "/".join("x" * 41) + "/a"])
@pytest.mark.parametrize("pack", [tar, zipped])
def test_names_that_lead_out_or_too_deep_are_refused(tmp_path, pack, name):
    with pytest.raises(ValueError, match=r"leads out of it|folders inside each other"):
        unpack(tmp_path, pack({"fine.md": b"x", name: b"x"}))
    assert names(tmp_path) in (["body"], ["body", "unpacked/fine.md"])


def test_a_name_with_nul_is_refused_or_cut_before_it(tmp_path):
    long = tarfile.TarInfo("a\x00" + "b" * 200 + ".md")  # in a header of its own, which takes any bytes
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as made:
        long.pax_headers = {"path": "a\x00b.md"}
        made.addfile(long)
    with pytest.raises(ValueError, match="leads out of it"):
        unpack(tmp_path, packed.getvalue())


def test_a_name_that_stands_twice_is_refused(tmp_path):
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as made:
        for name in ("a.md", "./a.md"):
            made.addfile(tarfile.TarInfo(name))
    with pytest.raises(ValueError, match=r"has 'a\.md' twice"):
        unpack(tmp_path, packed.getvalue())


def test_a_file_where_a_folder_must_be_is_refused(tmp_path):
    with pytest.raises(ValueError, match="cut off or damaged"):
        unpack(tmp_path, tar({"a": b"x", "a/b.md": b"x"}))


def test_links_and_devices_are_skipped_with_the_reason(tmp_path):
    kinds = {"link": tarfile.SYMTYPE, "hard": tarfile.LNKTYPE, "pipe": tarfile.FIFOTYPE, "device": tarfile.CHRTYPE}
    contents, root = unpack(tmp_path, tar({entry(n, k): b"" for n, k in kinds.items()} | {"link/a.md": b"x"}))
    assert names(root) == ["link/a.md"]
    assert {bad.origin: bad.reason for bad in contents.skipped} == dict.fromkeys(
        kinds, "is a link or another special file"
    )
    link = zipfile.ZipInfo("link.md")
    link.external_attr = (stat.S_IFLNK | 0o777) << 16
    (tmp_path / "zip").mkdir()
    contents, root = unpack(tmp_path / "zip", zipped({link: b"/etc/passwd", "a.md": b"x"}))
    assert names(root) == ["a.md"]


@pytest.mark.parametrize("pack", [tar, zipped])
def test_too_many_files_too_large_files_and_bombs(tmp_path, monkeypatch, pack):
    monkeypatch.setattr(archives, "MAX_FILES", 3)
    monkeypatch.setattr(archives, "MAX_FILE_BYTES", 100)
    for number in range(3):
        (tmp_path / str(number)).mkdir()
    contents, root = unpack(tmp_path / "0", pack({"a.md": b"x" * 100, "b.md": b"x" * 101}))
    assert names(root) == ["a.md"]
    assert [bad.origin for bad in contents.skipped] == ["b.md"]
    with pytest.raises(ValueError, match="more than 3 files"):
        unpack(tmp_path / "1", pack({f"{number}.md": b"" for number in range(4)}))
    monkeypatch.setattr(archives, "_ALWAYS_ALLOWED", 1024**2)
    monkeypatch.setattr(archives, "MAX_FILE_BYTES", 8 * 1024**2)
    with pytest.raises(ValueError, match="unpacks to more than"):
        unpack(tmp_path / "2", pack({"a.md": bytes(4 * 1024**2)}))


@pytest.mark.parametrize("kind", ["", "gz", "bz2", "xz"])
def test_a_tar_that_is_cut_off_anywhere_is_refused(tmp_path, kind):
    body = tar({f"{number}.md": b"# Page\n" for number in range(40)}, kind)
    step = max(512, len(body) // 20 // 512 * 512)
    for number, at in enumerate([*range(0, len(body) - 10_240 if not kind else len(body) - 8, step)]):
        (tmp_path / str(number)).mkdir()
        with pytest.raises(ValueError, match="cut off or damaged"):
            unpack(tmp_path / str(number), body[:at])


def test_the_root_is_named_or_the_only_folder(tmp_path):
    (tmp_path / "docs" / "guide").mkdir(parents=True)
    assert archive.find_root(tmp_path, "") == tmp_path / "docs"
    assert archive.find_root(tmp_path, ".") == tmp_path / "."
    assert archive.find_root(tmp_path, "docs/guide") == tmp_path / "docs" / "guide"
    with pytest.raises(ValueError, match="has no folder nosuch"):
        archive.find_root(tmp_path, "nosuch")

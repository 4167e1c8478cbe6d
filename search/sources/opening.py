"""One door to all sources: what a location is, and the items that come from there."""

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from urllib.parse import urlsplit

from docsite.core.paths import normalize
from search.sources import Bad, Draft, Item, LeftOut, Moved, Page, digest_of, generators
from search.sources.reading import Reading, under_of

_DOCUMENTS = (".json", ".yaml", ".yml")
# Readers are imported where one is needed: processes that serve have no use for them, and parsers are large.


def read(reading: Reading) -> Iterator[Item]:
    """The items of a source. Raises ValueError with a sentence when the location is none, or cannot be read at all."""
    generators.check(reading.generator)
    reading = replace(reading, under=under_of(reading.under))
    for item in _remote(reading) if reading.is_remote else _local(reading):
        yield _placed(item, reading)


def _remote(reading: Reading) -> Iterator[Item]:
    from search.sources import openapi
    from search.sources.web import crawl, llms

    path = urlsplit(reading.location).path.lower()
    if path.endswith(("/llms.txt", "/llms-full.txt")):
        return llms.read_address(reading)
    if path.endswith(_DOCUMENTS) or reading.generator in generators.RENDERERS:
        return openapi.read_address(reading)
    return crawl.read_site(reading)


def _local(reading: Reading) -> Iterator[Item]:
    from search.sources import archives, openapi
    from search.sources.web import llms

    place = Path(reading.location)
    if place.is_dir():
        yield from _folder(place, reading)
    elif not place.is_file():
        raise ValueError(f"{place} is neither a folder nor a file, nor an address that begins with https://")
    elif place.suffix.lower() in _DOCUMENTS:
        yield from openapi.read_file(place, reading)
    elif place.name.lower() in ("llms.txt", "llms-full.txt"):
        yield from llms.read_file(place, reading)
    elif archives.is_archive(place):
        with archives.unpacked(place) as folder:
            yield from _folder(folder, reading)
    else:
        raise ValueError(f"{place.name} is no archive, no OpenAPI document and no llms.txt")


def _folder(root: Path, reading: Reading) -> Iterator[Item]:
    import search.sources.html.folder as html
    import search.sources.markdown.folder as markdown
    import search.sources.sphinx.folder as sphinx

    if reading.manifest:
        return markdown.read_manifest(root, reading.manifest, reading)
    if reading.generator == "sphinx" or (not reading.generator and sphinx.is_sphinx(root)):
        return sphinx.read_folder(root, reading)
    if reading.generator == "html" or (not reading.generator and html.is_html(root)):
        return html.read_folder(root, reading)
    return markdown.read_folder(root, reading)


def _placed(item: Item, reading: Reading) -> Item:
    """The item below the source's own place, with the version and the language that it lacks."""
    if isinstance(item, LeftOut) or not (reading.under or reading.version or reading.language):
        return item
    under = reading.under
    path = normalize(f"{under}/{item.path}") if under and item.path else item.path
    if isinstance(item, Moved):
        return Moved(path, normalize(f"{under}/{item.target}"))
    if isinstance(item, Bad):
        return replace(item, path=path)
    if isinstance(item, Draft):
        digest = digest_of(under, reading.version, reading.language, item.digest)
        return replace(item, path=path, digest=digest, make=partial(_placed_later, item, reading))
    address = item.address
    if under and address and not urlsplit(address).scheme:
        address = f"{under}/{address.lstrip('/')}"
    return replace(
        item,
        path=path,
        address=address,
        version=item.version or reading.version,
        language=item.language or reading.language,
    )


def _placed_later(draft: Draft, reading: Reading) -> Page | Bad | LeftOut:
    made = _placed(draft.make(), reading)
    assert isinstance(made, Page | Bad | LeftOut)
    return made

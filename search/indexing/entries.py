"""Pages as database rows, and sections as search engines store them."""

import hashlib
import json
import re
from dataclasses import replace
from functools import partial

from docsite.core.unicode.normalization import normalize
from search.models import Document, Section
from search.sources import Page
from search.text import analysis
from search.text.markdown.cleaning import clean
from search.text.markdown.plain_text import anchor_and_heading, plain
from search.text.markdown.reader import title_of
from search.text.terms import Entry, facet, group_facets

MAX_QUESTIONS = 50  # of one section; each becomes one of its names
MAX_ADDRESS, MAX_VALIDATOR = 2000, 300
# A line of three or more words in bold, as in accordions and steps. It serves as a heading.
_QUESTION = re.compile(r"(?m)^[ ]{0,3}\*\*[^*\n][^ *\n]*+ [^*\n][^ *\n]*+ [^*\n]++\*\*$")
SectionWords = tuple[set[str], set[str]]  # the terms and the forms of a section


def build_document(page: Page) -> Document:
    """The page as a row, of no project yet. An address or validator that is too long is left empty."""
    first = title_of(page.markdown)
    heading = anchor_and_heading(plain(clean(f"# {first}")), {})[1] if first else ""
    name = page.path.rsplit("/", 1)[-1].replace("-", " ").replace("_", " ").capitalize()
    title = page.title or heading or name or "Home"
    aliases = [name for name in (heading, *page.keywords) if name and name.lower() != title.lower()]
    return Document(
        path=page.path,
        title=title[:500],
        description=page.description,
        version=page.version[:100],
        language=page.language[:35],
        tags=list(page.tags),
        aliases=aliases,
        boost=page.boost,
        own_groups=None if page.groups is None else list(page.groups),
        content=page.markdown.strip(),
        address=page.address if len(page.address) <= MAX_ADDRESS else "",
        validator=page.validator if len(page.validator) <= MAX_VALIDATOR else "",
    )


def normalize_unicode(page: Page) -> Page:
    """The page with each accented letter as one character, as readers type it (Unicode NFC)."""
    compose = partial(normalize, "NFC")
    return replace(
        page, markdown=compose(page.markdown), title=compose(page.title), description=compose(page.description)
    )


def compute_digest(page: Page) -> str:
    """The SHA-256 of all fields of a page, in hex, for pages whose source gave no digest."""
    fields = [
        page.title,
        page.description,
        page.version,
        page.language,
        page.tags,
        page.keywords,
        page.boost,
        page.markdown,
        page.address,
    ]
    if page.groups is not None:
        fields.append(page.groups)
    return hashlib.sha256(json.dumps(fields).encode()).hexdigest()


def analyse(document: Document, row: Section) -> tuple[Entry, SectionWords]:
    """The section as engines store it, and its words for the vocabulary."""
    language = document.language or "en"
    words = [*document.words.splitlines(), *document.link_texts.splitlines()] if row.position == 0 else []
    titles = [*([row.heading] if row.heading else [document.title, *document.aliases]), *words]
    questions = _QUESTION.findall(row.body)[:MAX_QUESTIONS]
    names = dict.fromkeys(name for text in titles for name in analysis.names_of(text))
    names |= dict.fromkeys(name for text in titles for name in analysis.path_names(text))
    names |= dict.fromkeys(map(analysis.name_of, questions))
    names |= dict.fromkeys(analysis.content_name_of(text, language) for text in [*titles, *questions])
    about = (
        [document.description, *document.aliases, *words, *document.path.split("/")[-2:]] if row.position == 0 else []
    )
    texts = (document.title, row.heading, " ".join(row.trail[: -1 if row.heading else None]), " ".join(about), row.text)
    (title, heading, trail, intro, body), terms, forms = analysis.index_texts(texts, language)
    facets = [
        facet("v", document.version),
        facet("l", document.language),
        *group_facets(document.group_names),
        *(facet("t", tag) for tag in document.tags),
        *(facet("n", name) for name in names if name),
    ]
    entry = Entry(
        section_id=row.pk,
        document_id=row.document_id,
        position=row.position,
        title=title,
        heading=heading,
        trail=trail,
        about=intro,
        body=body,
        facets=" ".join(facets),
        path=document.path,
        language=document.language.lower(),
        version=document.version.lower(),
        boost=document.boost,
    )
    return entry, (terms, forms)

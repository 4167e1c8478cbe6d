"""The one thing that would mend most of what a read has lost, as a sentence of its report."""

from operator import itemgetter
from pathlib import Path
from typing import Any

from search.sources.markdown.folder import OTHER_FORMAT
from search.sources.request import SourceRequest

_BUILT = ("build", "dist", "_site", "public", "site", "book", "_book", "_build/html", "build/html", ".vitepress/dist")
_FOLDERS = ("", "docs", "doc", "website")
_ENOUGH = 100  # a loss of less than one in so many needs no advice


def add(report: dict[str, Any], request: SourceRequest, generator: str) -> None:
    """Add to a report what was detected, and the advice if there is any."""
    report["detected"] = "" if request.generator else generator
    if not (folder := request.folder):
        return
    built = _name_built_site(folder, request)
    includes, shortcodes = (report["problems"].get(kind, {}).get("count", 0) for kind in ("include", "shortcode"))
    code, anchors = report["code"], report["anchors"]
    blocks, lost = code["count"] + includes, code["empty"] + includes
    taken = sum(group["count"] for group in report["skipped"] if "already taken" in group["reason"])
    other_formats = sum(group["count"] for group in report["leftOut"] if OTHER_FORMAT in group["reason"])
    offers = [  # each with the number of losses that it mends; the first of equal ones wins, so causes stand first
        (
            (report["detected"] == "plain") * max(1, anchors["missing"]),
            f"No generator was recognized, so check that the reported addresses are those of your site. {built}",
        ),
        (taken, "Several pages have one address, and only the first of them is read: look at their permalinks."),
        (shortcodes, f"Shortcodes were not understood. {built}"),
        (other_formats, f"{other_formats:,} files are in other formats. {built}"),
    ]
    if lost * _ENOUGH > blocks:
        if repository := next((above for above in folder.resolve().parents if (above / ".git").exists()), None):
            offers.append((includes, f"Pages include files outside of this folder. Read the repository: {repository}"))
        offers.append((lost, f"{lost:,} of {blocks:,} code blocks and includes are lost. {built}"))
    if anchors["missing"] * _ENOUGH > anchors["count"] * 5:
        offers.append(
            (anchors["missing"], f"Many links lead to anchors that do not exist. If your site has them: {built}")
        )
    count, sentence = max(offers, key=itemgetter(0))
    report["advice"] = sentence if count else ""


def _name_built_site(folder: Path, request: SourceRequest) -> str:
    """Where the built site is, in a sentence."""
    for place in (folder / above / name for above in _FOLDERS for name in _BUILT):
        if (place / "index.html").is_file():
            return f"The built site is truer: read its folder {place.relative_to(folder)}"
    return f"The built site is truer: read its folder (build, dist, _site, public, site), or {request.docs_url}"

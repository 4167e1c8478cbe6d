"""The texts of the interface, by language: each file in `texts` is one. A new language is a new file."""

import json
import tomllib
from pathlib import Path
from typing import Any

from django.conf import settings

from docsite.core.http.errors import ApiError, in_largest_unit

_TEXTS = {
    path.stem: tomllib.loads(path.read_text(encoding="utf-8"))
    for path in (Path(__file__).parent / "texts").glob("*.toml")
}
PAGE: dict[str, dict[str, str]] = {language: texts["page"] for language, texts in _TEXTS.items()}
SCRIPT: dict[str, dict[str, str]] = {language: texts["script"] for language, texts in _TEXTS.items()}
SUPPORT_ERRORS: dict[str, dict[str, str]] = {language: texts["support_errors"] for language, texts in _TEXTS.items()}

# The widget's options: all its labels, by their names in `/widget.d.ts`, and questions that these pages answer.
_OPTIONS: Path = settings.FILES / "static" / "site" / "widget.de.json"
WIDGET: dict[str, dict[str, Any]] = {"de": json.loads(_OPTIONS.read_text(encoding="utf-8"))}


def widget_options(language: str, *, has_model: bool) -> dict[str, Any] | None:
    """The options of the widget in a language; None in English, which is the widget's own."""
    options = WIDGET.get(language)
    if options is None or has_model:
        return options
    return {**options, "labels": {**options["labels"], "aboutAnswersText": _TEXTS[language]["quoted_answers"]}}


def translate_refusal(language: str, refusal: ApiError) -> str:
    """The reason for refusing a form: in English the sentence of the error, in other languages one for its status."""
    texts = _TEXTS[language]
    if "refusals" not in texts:
        return refusal.sentence
    number, unit = in_largest_unit(int(refusal.headers.get("Retry-After", "0")))
    sentence: str = texts["refusals"].get(str(refusal.status), "{sentence}")
    return sentence.format(wait=f"{number} {texts['units'][unit][number != 1]}", sentence=refusal.sentence)

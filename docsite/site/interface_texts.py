"""The texts of the interface in each language, for templates and for scripts.

The content of pages is not here, nor text of pages that exist in one language only.
"""

import json
from pathlib import Path
from typing import Any

from django.conf import settings

from docsite.core.http.errors import ApiError, in_largest_unit

PAGE = {
    "en": {
        "skip": "Skip to content",
        "these_docs": "These docs",
        "search": "Search",
        "search_docs": "Search the docs",
        "ask": "Ask",
        "version": "Version",
        "versions": "Versions",
        "language": "Language",
        "languages": "Languages",
        "dark_theme": "Dark theme",
        "menu": "Menu",
        "pages": "Pages",
        "served": "This site is served by the service it describes.",
        "privacy": "Privacy",
        "changelog": "Changelog",
        "changes_in": "What changed in",
        # A page
        "breadcrumbs": "Breadcrumbs",
        "not_translated": "This page is not translated yet. This is the English one.",
        "docs": "Docs",
        "on_this_page": "On this page",
        "link_to": "Link to “{}”",
        "pager": "Previous and next page",
        "previous": "Previous",
        "next": "Next",
        "page_menu": "Page menu",
        "copy_page": "Copy page as Markdown",
        "view_markdown": "View as Markdown",
        "ask_page": "Ask about this page",
        "open_chatgpt": "Open in ChatGPT",
        "open_claude": "Open in Claude",
        "add_to_cursor": "Add to Cursor",
        "add_to_vscode": "Add to VS Code",
        "copy_claude_command": "Copy command for Claude Code",
        "other_agents": "Add to another agent",
        "prompt_read": "Read ",
        "prompt_help": " and help me with my questions about it.",
        # The first page
        "picture_answer": "An answer in the widget, with links to the sentences it rests on",
        "picture_report": "The report of visitors in the admin: people and AI clients, day by day",
        "number_widget": "on your pages until a reader asks",
        "number_tools": "documentation tools whose addresses and anchors are read as they render them",
        "number_languages": "languages in which search knows the forms of words",
        # Feedback
        "was_helpful": "Was this page helpful?",
        "yes": "Yes",
        "no": "No",
        "undo": "Undo",
        "what_helped": "What helped most?",
        "solved": "Solved my problem",
        "easy": "Easy to follow",
        "examples": "Good examples",
        "what_wrong": "What was wrong?",
        "missing": "Something is missing",
        "hard": "Hard to follow",
        "outdated": "Out of date",
        "wrong": "Wrong",
        "anything": "Anything to add?",
        "contact": "Your e-mail address, if you would like an answer",
        "optional": "Optional",
        "send": "Send",
        "feedback": "Feedback",
        "not_kept": "This was not saved",
        "taken_back": "Taken back",
        "nothing_kept": "None of your feedback is stored.",
        "thanks": "Thank you",
        "reaches": "It reaches the people who write these pages.",
        "say_more": "You can say more, if you like.",
        "back": "Back to the page",
        # Search
        "search_or_ask": "Search or ask",
        "close": "Close",
        "narrow": "Narrow the results",
        "recent": "Recent",
        "clear": "Clear",
        "results": "Results",
        "to_choose": "to choose,",
        "to_open": "to open",
        "all_results": "All results",
        "search_page": "Search",
        "not_indexed": "These pages are not indexed yet. Every page is in the menu.",
        "one_result_for": "result for",
        "results_for": "results for",
        "nothing_for": "Nothing found for",
        "words_to_search": "Words to search for",
        "for_example": "Words, an error message, a setting",
        "try_fewer": "Try fewer words, or the exact name of a setting, command or endpoint. Or start here:",
        "or": "Or",
        "ask_assistant": "ask the assistant",
        # Asking
        "ask_docs": "Ask the docs",
        "ask_lead": "The answer is written from these pages, with links to its sources.",
        "every_question": "Like every question here it is",
        "stored": "stored",
        "no_assistant": "This site’s assistant is not set up. Search works without it.",
        "your_question": "Your question",
        "answer": "Answer",
        "sources": "Sources",
        "no_source": "This answer has no source.",
        "search_instead": "Search the docs for these words",
        "status": "Status",
        # 404
        "not_found": "Page not found",
        "nothing_at": "Nothing is served at",
        "nearest": "The nearest pages",
        "start_here": "Start here",
    },
    "de": {
        "skip": "Zum Inhalt springen",
        "these_docs": "Diese Dokumentation",
        "search": "Suchen",
        "search_docs": "Dokumentation durchsuchen",
        "ask": "Fragen",
        "version": "Version",
        "versions": "Versionen",
        "language": "Sprache",
        "languages": "Sprachen",
        "dark_theme": "Dunkle Darstellung",
        "menu": "Menü",
        "pages": "Seiten",
        "served": "Diese Site liefert der Dienst aus, den sie beschreibt.",
        "privacy": "Datenschutz",
        "changelog": "Änderungen",
        "changes_in": "Änderungen in",
        # A page
        "breadcrumbs": "Weg zu dieser Seite",
        "not_translated": "Diese Seite gibt es noch nicht auf Deutsch. Hier steht die englische.",
        "docs": "Dokumentation",
        "on_this_page": "Auf dieser Seite",
        "link_to": "Link zu „{}“",
        "pager": "Vorige und nächste Seite",
        "previous": "Zurück",
        "next": "Weiter",
        "page_menu": "Seitenmenü",
        "copy_page": "Seite als Markdown kopieren",
        "view_markdown": "Als Markdown ansehen",
        "ask_page": "Zu dieser Seite fragen",
        "open_chatgpt": "In ChatGPT öffnen",
        "open_claude": "In Claude öffnen",
        "add_to_cursor": "In Cursor hinzufügen",
        "add_to_vscode": "In VS Code hinzufügen",
        "copy_claude_command": "Befehl für Claude Code kopieren",
        "other_agents": "Zu anderem Agenten hinzufügen",
        "prompt_read": "Lies ",
        "prompt_help": " und hilf mir bei meinen Fragen dazu.",
        # The first page
        "picture_answer": "Eine Antwort im Widget, mit Links zu den Sätzen, auf denen sie beruht",
        "picture_report": "Der Bericht über Besucher in der Verwaltung: Menschen und KI-Programme, Tag für Tag",
        "number_widget": "auf Ihren Seiten, bis jemand fragt",
        "number_tools": "Werkzeuge für Dokumentation, deren Adressen und Anker so gelesen werden, wie sie entstehen",
        "number_languages": "Sprachen, in denen die Suche die Formen der Wörter kennt",
        # Feedback
        "was_helpful": "War diese Seite hilfreich?",
        "yes": "Ja",
        "no": "Nein",
        "undo": "Zurücknehmen",
        "what_helped": "Was hat am meisten geholfen?",
        "solved": "Mein Problem ist gelöst",
        "easy": "Gut zu verstehen",
        "examples": "Gute Beispiele",
        "what_wrong": "Was war nicht gut?",
        "missing": "Etwas fehlt",
        "hard": "Schwer zu verstehen",
        "outdated": "Veraltet",
        "wrong": "Falsch",
        "anything": "Möchten Sie etwas hinzufügen?",
        "contact": "Ihre E-Mail-Adresse, wenn Sie eine Antwort möchten",
        "optional": "Freiwillig",
        "send": "Senden",
        "feedback": "Rückmeldung",
        "not_kept": "Das wurde nicht gespeichert",
        "taken_back": "Zurückgenommen",
        "nothing_kept": "Von Ihrer Rückmeldung ist nichts mehr gespeichert.",
        "thanks": "Danke",
        "reaches": "Es erreicht die Menschen, die diese Seiten schreiben.",
        "say_more": "Wenn Sie möchten, können Sie mehr dazu sagen.",
        "back": "Zurück zur Seite",
        # Search
        "search_or_ask": "Suchen oder fragen",
        "close": "Schließen",
        "narrow": "Ergebnisse eingrenzen",
        "recent": "Zuletzt",
        "clear": "Löschen",
        "results": "Ergebnisse",
        "to_choose": "wählt aus,",
        "to_open": "öffnet",
        "all_results": "Alle Ergebnisse",
        "search_page": "Suche",
        "not_indexed": "Diese Seiten sind noch nicht im Index. Im Menü stehen sie alle.",
        "one_result_for": "Ergebnis für",
        "results_for": "Ergebnisse für",
        "nothing_for": "Nichts gefunden für",
        "words_to_search": "Suchwörter",
        "for_example": "Wörter, eine Fehlermeldung, eine Einstellung",
        "try_fewer": (
            "Versuchen Sie es mit weniger Wörtern oder mit dem genauen Namen einer Einstellung, eines Befehls "
            "oder eines Endpunkts. Oder beginnen Sie hier:"
        ),
        "or": "Oder",
        "ask_assistant": "fragen Sie den Assistenten",
        # Asking
        "ask_docs": "Die Dokumentation fragen",
        "ask_lead": "Die Antwort wird aus diesen Seiten geschrieben, mit Links zu dem, worauf sie beruht.",
        "every_question": "Wie jede Frage hier wird sie",
        "stored": "gespeichert",
        "no_assistant": "Der Assistent dieser Site ist nicht eingerichtet. Die Suche funktioniert auch ohne ihn.",
        "your_question": "Ihre Frage",
        "answer": "Antwort",
        "sources": "Quellen",
        "no_source": "Diese Antwort hat keine Quelle.",
        "search_instead": "Die Dokumentation nach diesen Wörtern durchsuchen",
        "status": "Status",
        # 404
        "not_found": "Seite nicht gefunden",
        "nothing_at": "Unter dieser Adresse gibt es nichts:",
        "nearest": "Die nächstliegenden Seiten",
        "start_here": "Hier beginnen",
    },
}

SCRIPT = {  # by the names that scripts use; scripts fill in `{query}` and the like
    "en": {
        "ask": "Ask",
        "copy": "Copy",
        "copied": "Copied",
        "notCopied": "Not copied",
        "codeHelped": "This code helped",
        "codeDidNotHelp": "This code did not help",
        "selectedText": "Selected text",
        "linkToText": "Link to text",
        # Feedback
        "thanks": "Thank you.",
        "reaches": "Thank you. It reaches the people who write these pages.",
        "takenBack": "Taken back.",
        "tooMuchSaid": "That was too much at once. Try again in {wait}.",
        "notKept": "This could not be saved. Try again shortly.",
        "notSent": "This could not be sent. Check your connection.",
        # Search
        "askRow": "Ask: ",
        "version": "Version",
        "language": "Language",
        "tag": "Tag",
        "withoutVersion": "Pages that belong to no version are shown, too.",
        "startHere": "Start here",
        "favourites": "Favourites",
        "addFavourite": "Add to favourites (Ctrl S)",
        "removeFavourite": "Remove from favourites (Ctrl S)",
        "removeEntry": "Remove (Delete)",
        "savedKeys": "What you opened before. Control S makes a page a favourite, Delete removes it.",
        "onePage": "1 page",
        "manyPages": "{count} pages",
        "nothing": "No results for “{query}”.",
        "nothingHere": "No results for “{query}” in this part.",
        "nearestPages": "Nearest pages",
        "tellMissing": "Tell us what’s missing",
        "thanksForMissing": "Thank you. We will look into it.",
        "tooManySearches": "Too many searches just now. Try again in {wait}.",
        "searchFails": "Search does not work right now. Try again shortly.",
        "searchAway": "Search cannot be reached. Check your connection.",
    },
    "de": {
        "ask": "Fragen",
        "copy": "Kopieren",
        "copied": "Kopiert",
        "notCopied": "Nicht kopiert",
        "codeHelped": "Dieser Code hat geholfen",
        "codeDidNotHelp": "Dieser Code hat nicht geholfen",
        "selectedText": "Ausgewählter Text",
        "linkToText": "Link zum Text",
        # Feedback
        "thanks": "Danke.",
        "reaches": "Danke. Es erreicht die Menschen, die diese Seiten schreiben.",
        "takenBack": "Zurückgenommen.",
        "tooMuchSaid": "Das war zu viel auf einmal. Versuchen Sie es in {wait} noch einmal.",
        "notKept": "Das konnte nicht gespeichert werden. Versuchen Sie es bald noch einmal.",
        "notSent": "Das konnte nicht gesendet werden. Prüfen Sie Ihre Verbindung.",
        # Search
        "askRow": "Fragen: ",
        "version": "Version",
        "language": "Sprache",
        "tag": "Schlagwort",
        "withoutVersion": "Auch Seiten, die zu keiner Version gehören, werden gezeigt.",
        "startHere": "Hier beginnen",
        "favourites": "Favoriten",
        "addFavourite": "Zu den Favoriten (Strg S)",
        "removeFavourite": "Kein Favorit mehr (Strg S)",
        "removeEntry": "Entfernen (Entf)",
        "savedKeys": "Was Sie geöffnet haben. Steuerung S macht eine Seite zum Favoriten, Entf entfernt sie.",
        "onePage": "1 Seite",
        "manyPages": "{count} Seiten",
        "nothing": "Keine Ergebnisse für „{query}“.",
        "nothingHere": "Keine Ergebnisse für „{query}“ in diesem Teil.",
        "nearestPages": "Ähnliche Seiten",
        "tellMissing": "Sagen Sie uns, was fehlt",
        "thanksForMissing": "Danke. Wir sehen es uns an.",
        "tooManySearches": "Gerade zu viele Suchen. Versuchen Sie es in {wait} noch einmal.",
        "searchFails": "Die Suche funktioniert gerade nicht. Versuchen Sie es bald noch einmal.",
        "searchAway": "Die Suche ist nicht erreichbar. Prüfen Sie Ihre Verbindung.",
    },
}

REFUSALS: dict[str, dict[int, str]] = {  # by status, for languages other than English
    "de": {
        400: "Das lässt sich so nicht annehmen: Es fehlt etwas, oder es ist zu lang.",
        403: "Dieses Formular wird nur von den Seiten dieser Site angenommen.",
        404: "Diese Site nimmt keine Rückmeldungen an.",
        413: "Das ist zu lang.",
        429: "Das war zu viel auf einmal. Versuchen Sie es in {wait} noch einmal.",
        500: "Interner Fehler. Der Dienst sagt dazu: {sentence}",
        503: "Das ist gerade nicht möglich. Versuchen Sie es bald noch einmal.",
    },
}

# The widget's options: all its labels, by their names in `/widget.d.ts`, and questions that these pages answer.
_OPTIONS: Path = settings.FILES / "static" / "site" / "widget.de.json"
WIDGET: dict[str, dict[str, Any]] = {"de": json.loads(_OPTIONS.read_text(encoding="utf-8"))}
_QUOTED = {  # what “About” says of answers where no model is set
    "de": "Es sind Stellen aus dieser Dokumentation, Wort für Wort zitiert. Kein Sprachmodell schreibt sie. Prüfen Sie "
    "die verlinkten Seiten, bevor Sie sich auf eine verlassen."
}

UNITS = {"de": {"second": ("Sekunde", "Sekunden"), "minute": ("Minute", "Minuten"), "hour": ("Stunde", "Stunden")}}


def widget_options(language: str, *, has_model: bool) -> dict[str, Any] | None:
    """The options of the widget in a language; None in English, which is the widget's own."""
    options = WIDGET.get(language)
    if options is None or has_model:
        return options
    return {**options, "labels": {**options["labels"], "aboutAnswersText": _QUOTED[language]}}


def translate_refusal(language: str, refusal: ApiError) -> str:
    """The reason for refusing a form: in English the sentence of the error, in other languages one for its status."""
    if language not in REFUSALS:
        return refusal.sentence
    number, unit = in_largest_unit(int(refusal.headers.get("Retry-After", "0")))
    wait = f"{number} {UNITS[language][unit][number != 1]}"
    sentence = REFUSALS[language].get(refusal.status, "{sentence}")
    return sentence.format(wait=wait, sentence=refusal.sentence)

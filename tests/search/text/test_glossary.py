"""Questions in other languages, translated word by word."""

import csv
from pathlib import Path

import pytest

from search.indexing.ingest import ingest
from search.retrieval.passages import find_passages
from search.sources import Page
from search.text import glossary
from search.text.glossary import translate
from search.text.language import detect_language


@pytest.mark.parametrize(
    ("text", "english"),
    [
        ("Wie lösche ich eine Datei mit dem Befehl `--no-cache`?", "delete remove file command no-cache"),
        ("Wo liegt der SSH-Schlüssel auf dem Server?", "liegt SSH key server"),
        ("¿Cómo cambio la contraseña?", "change password"),
        ("Où est le mot de passe de l'utilisateur ?", "password user"),
        ("Come si imposta una variabile d'ambiente?", "set environment variable"),
        ("Como posso instalar o pacote?", "install package"),
        ("Hoe kan ik een bestand verwijderen?", "file delete remove"),
        ("環境変数はどこで設定しますか", "environment variable configure configuration"),
        ("Wie setze ich ACME_HOME und useChat()?", "set ACME_HOME useChat"),
        ("How do I delete a file?", "How do I delete a file?"),
        ("Hur tar jag bort en fil som inte behövs", "Hur tar jag bort en fil som inte behövs"),
        ("", ""),
    ],
)
def test_the_words_of_documentation_become_english(text, english):
    assert translate(text, detect_language(text)) == english


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("Welche Datenbanken gehen?", "de"),
        ("Passwort vergessen", "de"),
        ("instalar paquete", "es"),
        ("mot de passe oublié", "fr"),
        ("rate limit", ""),
        ("import module", ""),
        ("test cookie option", ""),
        ("Fastify plugin timeout", ""),
        ("timeout in \u03bcs", ""),
        ("the \u03c0 constant", ""),
        ("\u03c0\u03ce\u03c2 \u03c4\u03bf \u03b5\u03b3\u03ba\u03b1\u03b8\u03b9\u03c3\u03c4\u03ce", "el"),
        ("", ""),
    ],
)
def test_few_words_tell_the_language_if_they_are_not_english_too(text, language):
    assert detect_language(text) == language


def test_each_phrase_has_one_row():
    with Path(glossary.__file__).with_name("glossary.tsv").open(encoding="utf-8") as file:
        rows = list(csv.reader(file, delimiter="\t"))
    assert {len(row) for row in rows} == {8}
    assert rows[0] == ["en", "de", "es", "fr", "it", "pt", "nl", "ja"]
    assert rows[-1][0] == ""


@pytest.fixture
def tenant(make_project):
    tenant = make_project()
    pages = [
        ("/env", "# Environment variables\n\nSet them in the shell.", "en"),
        ("/passwords", "# Reset a password\n\nA user can change the password on the account page.", "en"),
    ]
    ingest(tenant.project, [Page(path, path, text, language=language) for path, text, language in pages])
    return tenant


@pytest.mark.parametrize(
    "question", ["Wie ändere ich mein Passwort?", "¿Cómo puedo cambiar mi contraseña?", "パスワードを変更するには？"]
)
def test_a_question_in_another_language_finds_the_page(tenant, question):
    passages = find_passages(tenant.project, question)
    assert passages.hits[0].path == "/passwords"
    assert passages.chance > find_passages(tenant.project, "Wie backe ich mein Brot?").chance


def test_a_question_in_a_language_of_the_pages_is_not_translated(tenant):
    pages = [
        Page("/account", "/account", "# Change a password\n\nChange the password.", language="en"),
        Page("/de/konto", "/de/konto", "# Konto\n\nWie ändere ich mein Passwort? Im Konto.", language="de"),
    ]
    ingest(tenant.project, pages)
    assert find_passages(tenant.project, "Wie ändere ich mein Passwort?").hits[0].path == "/de/konto"

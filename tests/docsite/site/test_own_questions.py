"""The documentation answers what people ask about the service: the right page is among the first two passages."""

import os
from typing import Any

import pytest

from docsite.server.management.commands.demo import STARTERS
from docsite.site.navigation import CONTENT, DEFAULT_LANGUAGE, pages
from search.indexing.ingest import ingest
from search.retrieval.passages import find_passages
from search.sources.registry import read
from search.sources.request import SourceRequest

# Questions in the words of newcomers, owners, developers and operators, each with the pages or sections that answer it.
QUESTIONS = {
    "How do I put the widget on my site?": "/embed /your-docs /quickstart",
    "Who counts as AI?": "/who-is-ai",
    "How are unique visitors counted?": "/how-visitors-are-counted",
    "Rotate an API key": "/security /keys-and-data /dashboard#api-keys",
    "Delete a reader's data": "/keys-and-data /privacy",
    "Which databases?": "/databases",
    "Does it work with Docusaurus?": "/sources /your-tools",
    "How do I use Ollama?": "/models",
    "Can I use it without a model?": "/how-answers-work /models",
    "What does it cost? ": "/models",
    "What are the system requirements?": "/quickstart /databases",
    "Does it run on Windows?": "/quickstart /databases",
    "How much memory does it need?": "/databases",
    "Can I use MySQL?": "/databases",
    "How do I switch from SQLite to PostgreSQL?": "/databases /deployment",
    "Do I need Redis?": "/databases /configuration",
    "How do I back up the database?": "/deployment",
    "How do I restore a backup?": "/deployment",
    "How do I upgrade to a new version?": "/deployment",
    "Does it work with MkDocs?": "/your-tools",
    "Does it work with VitePress?": "/your-tools",
    "Can it read a Sphinx project?": "/your-tools /sources",
    "How do I add the script to Docusaurus?": "/your-tools",
    "Can I index a website without its source?": "/sources",
    "My docs are behind a login, how do I index them?": "/sources",
    "How often is my documentation read again?": "/sources",
    "Update the index from GitHub Actions": "/your-tools /sources",
    "I lost my admin key, how do I get it back?": "/keys-and-data /dashboard",
    "My API key leaked, what now?": "/security /keys-and-data",
    "How do I revoke a key?": "/keys-and-data /commands#revokekey /dashboard#api-keys",
    "Is the assistant key secret?": "/security /",
    "Where do I find the project ID?": "/dashboard /analytics-api",
    "How do I delete a project?": "/keys-and-data",
    "How do I delete a conversation?": "/keys-and-data /dashboard /privacy /assistant-api",
    "Does it set cookies?": "/privacy",
    "Is it GDPR compliant?": "/privacy",
    "Do I need a cookie banner?": "/privacy",
    "Are IP addresses stored?": "/privacy",
    "What is sent to OpenAI?": "/privacy",
    "Can I use Claude or Gemini?": "/models",
    "Can I use Azure OpenAI?": "/models",
    "Which model should I use?": "/models",
    "Why does the assistant only quote pages?": "/troubleshooting /how-answers-work",
    "Why does it say the documentation has no answer?": "/troubleshooting /how-answers-work",
    "The widget does not appear": "/troubleshooting",
    "CORS error in the browser console": "/troubleshooting /embed",
    "Why am I getting 429 Too Many Requests?": "/errors-and-limits /troubleshooting",
    "How do I change the colour of the widget?": "/embed /dashboard",
    "Can I translate the widget into German?": "/embed",
    "How do I turn the widget off?": "/dashboard /troubleshooting",
    "How do I count page views?": "/analytics-api /embed",
    "Does Googlebot count as a visitor?": "/who-is-ai",
    "Is ChatGPT counted?": "/who-is-ai",
    "Can I import nginx logs?": "/commands#importlog /analytics-api",
    "How long are page views stored?": "/privacy /how-visitors-are-counted /configuration",
    "How do I export visitors as CSV?": "/commands#exportvisitors /analytics-api",
    "Which questions could the assistant not answer?": "/analytics-api /how-answers-work /dashboard",
    "How do I run it with Docker?": "/deployment",
    "How do I put nginx in front?": "/configuration /deployment",
    "How do I run several processes?": "/deployment /configuration /databases",
    "How do I change the port?": "/quickstart /commands#serve /configuration",
    "How do I create an admin user?": "/dashboard /deployment /commands",
    "I forgot the admin password": "/dashboard /commands /keys-and-data",
    "How do I add a teammate?": "/dashboard /keys-and-data",
    "How do I use it with React?": "/use-chat",
    "How do I call the search from my own code?": "/search-api",
    "How do I filter by version?": "/search-api /sources",
    "How do I exclude a page from search?": "/sources",
    "How do I rank a page higher?": "/commands /troubleshooting",
    "Can the assistant make things up?": "/how-answers-work",
    "How do I limit the cost of the model? ": "/configuration /security /models",
    "Is there a limit on the number of pages?": "/sources /errors-and-limits /databases /deployment",
    "Which license does it have?": "/models",
    "Which languages are supported?": "/how-search-works",
    "How do I give the assistant instructions?": "/dashboard",
    "What happens when the model server is down?": "/how-answers-work /configuration /models",
    "How do I check that answers are still right after a change?": "/how-answers-work /commands",
    "How do I report a vulnerability?": "/security",
    "Is there a health check?": "/deployment /configuration",
    "What is fp?": "/assistant-api /privacy",
    "How do I resume an answer after a reload?": "/streaming",
    "How do I stop a running answer?": "/assistant-api /streaming",
    "How do I add golden questions?": "/commands /dashboard /how-answers-work",
    "What is llms.txt for?": "/",
    "How do I collect feedback?": "/analytics-api /embed /dashboard",
    "How is the score computed?": "/how-search-works /search-api",
    "What is a thread?": "/assistant-api /",
    "Does it work offline without internet?": "/models /databases",
    "Can I change the system prompt?": "/dashboard",
    "How do I allow another origin?": "/embed /dashboard /security",
    "How do I run it with systemd?": "/deployment",
    "Does the widget slow down my page?": "/embed",
    "Is the widget accessible by keyboard?": "/embed",
    "How do I open the widget from my own button?": "/embed",
    "How do I index an OpenAPI file?": "/sources",
    "Why are links in answers broken?": "/troubleshooting /sources",
    "My visitor counts are too low": "/troubleshooting",
    "What do I do when it does not start?": "/troubleshooting",
    "How do I remove the demo data?": "/keys-and-data /commands",
    "How do I get notified when the assistant cannot answer?": "/analytics-api /how-answers-work",
    "Can two projects share one service?": "/ /dashboard /databases",
}


@pytest.fixture(scope="module")
def docs(django_db_setup: None) -> Any:
    """A project with the pages of the demo."""
    from docsite.core.tenants.management.commands.createproject import create_project

    project, *_ = create_project(f"own-docs-{os.getpid()}", "Own documentation", "https://docs.example.com", [])
    ingest(project, read(SourceRequest(str(CONTENT), project.docs_url, language=DEFAULT_LANGUAGE)))
    return project


@pytest.mark.parametrize("question", QUESTIONS)
def test_a_passage_of_the_right_page_comes_first_or_second(docs: Any, question: str) -> None:
    hits = find_passages(docs, question).hits[:2]
    places = {place for hit in hits for place in (hit.path, f"{hit.path}#{hit.anchor}")}
    assert places & set(QUESTIONS[question].split())


@pytest.mark.parametrize("question", STARTERS)
def test_a_starter_question_of_the_demo_is_among_them(question: str) -> None:
    assert question in QUESTIONS


def test_the_pages_of_the_questions_exist() -> None:
    paths = {place.partition("#")[0] for places in QUESTIONS.values() for place in places.split()}
    assert paths <= {page.path for page in pages().values()}

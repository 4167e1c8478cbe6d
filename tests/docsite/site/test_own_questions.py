"""The documentation answers what people ask about the service, and nothing else, whatever page the reader is on."""

import os
from dataclasses import replace
from typing import Any

import pytest

from assistant.answering.passage_search import find
from assistant.answering.question import AnswerSettings, Context, Question
from docsite.extras.demo.management.commands.demo import STARTERS
from docsite.site.navigation import CONTENT, DEFAULT_LANGUAGE, pages
from search.indexing.ingest import ingest
from search.models import Document
from search.retrieval.passages import find_passages
from search.sources.registry import read
from search.sources.request import SourceRequest
from tests.variants import first_of

CHAT_BUTTON = "/troubleshooting#why-does-the-chat-button-not-show-up-on-my-page"
# Questions in the words of newcomers, owners, developers and operators, each with the pages or sections that answer it.
QUESTIONS = {
    "How do I put the widget on my site?": "/embed#how-do-i-put-the-widget-on-my-site",
    "How do I add search to my site?": "/embed#how-do-i-add-search-to-my-site",
    "How do I add the docs to Claude Code?": "/coding-agents#how-do-i-add-it-to-claude-code",
    "How do I use the MCP server in Cursor?": "/coding-agents#how-do-i-add-it-to-cursor",
    "Is there an MCP server?": "/coding-agents",
    "How do I turn the MCP server off?": "/coding-agents#how-do-i-turn-the-mcp-server-off-or-demand-a-key",
    "Does it work with Starlight?": "/your-tools#does-it-work-with-starlight-and-astro",
    "Who counts as AI?": "/how-visitors-are-counted#who-counts-as-ai",
    "How are unique visitors counted?": "/how-visitors-are-counted#how-are-unique-visitors-counted",
    "Rotate an API key": "/security#rotate-an-api-key",
    "Delete a reader's data": "/privacy#delete-a-readers-data",
    "Which databases?": "/deployment#which-databases",
    "Does it work with Docusaurus?": "/your-tools#does-it-work-with-docusaurus",
    "How do I use Ollama?": "/models#how-do-i-use-ollama",
    "Can I use it without a model?": "/models#can-i-use-it-without-a-model",
    "What does it cost?": "/models#what-does-it-cost",
    "What are the system requirements?": "/deployment#what-are-the-system-requirements",
    "Does it run on Windows?": "/deployment#does-it-run-on-windows-or-macos",
    "How much memory does it need?": "/deployment#how-much-memory-does-it-need",
    "Can I use MySQL?": "/deployment#can-i-use-mysql-mariadb-or-mongodb",
    "How do I switch from SQLite to PostgreSQL?": "/deployment#how-do-i-switch-or-move-from-sqlite-to-postgresql",
    "Do I need Redis?": "/deployment#do-i-need-redis",
    "How do I back up the database?": "/deployment#backups",
    "How do I restore a backup?": "/deployment#how-do-i-restore-a-backup",
    "How do I upgrade to a new version?": "/deployment#upgrades",
    "Does it work with MkDocs?": "/your-tools#does-it-work-with-mkdocs-and-material-for-mkdocs",
    "Does it work with VitePress?": "/your-tools#does-it-work-with-vitepress",
    "Can it read a Sphinx project?": "/your-tools /sources",
    "How do I add the script to Docusaurus?": "/your-tools#does-it-work-with-docusaurus",
    "Can I index a website without its source?": "/sources#a-site-on-the-web",
    "My docs are behind a login, how do I index them?": "/sources#pages-behind-a-log-in",
    "How often is my documentation read again?": "/sources#how-often-is-my-documentation-read-again",
    "Update the index from GitHub Actions": "/sources#update-the-index-from-github-actions-or-another-build "
    "/sources#github-actions",
    "I lost my admin key, how do I get it back?": "/security#i-lost-my-key-how-do-i-get-it-back",
    "My API key leaked, what now?": "/security#my-key-has-leaked",
    "How do I revoke a key?": "/commands#revokekey /security#rotate-an-api-key",
    "Is the assistant key secret?": "/security#is-the-assistant-key-secret",
    "Where do I find the project ID?": "/security#where-do-i-find-the-project-id",
    "How do I delete a project?": "/privacy#delete-a-project",
    "How do I delete a conversation?": "/privacy#delete-conversations",
    "Does it set cookies?": "/privacy#cookies",
    "Is it GDPR compliant?": "/privacy#is-it-gdpr-compliant",
    "Do I need a cookie banner?": "/privacy#is-it-gdpr-compliant",
    "Are IP addresses stored?": "/privacy#are-ip-addresses-stored",
    "What is sent to OpenAI?": "/privacy#what-is-sent-to-openai-or-another-model-server",
    "Can I use Claude or Gemini?": "/models#can-i-use-openai-claude-gemini-azure-or-mistral",
    "Can I use Azure OpenAI?": "/models#can-i-use-openai-claude-gemini-azure-or-mistral",
    "Which model should I use?": "/models#which-model-should-i-use",
    "Why does the assistant only quote pages?": "/troubleshooting#why-does-the-assistant-only-quote-pages",
    "Why does it say the documentation has no answer?": "/how-it-works#refusals "
    "/troubleshooting#why-does-it-say-that-the-documentation-has-no-answer",
    "The widget does not appear": "/troubleshooting#the-widget-does-not-appear",
    "CORS error in the browser console": "/embed#which-pages-may-use-it",
    "Why am I getting 429 Too Many Requests?": "/errors-and-limits#why-am-i-getting-429-too-many-requests",
    "How do I change the colour of the widget?": "/embed#how-do-i-change-the-colour-of-the-widget",
    "Can I translate the widget into German?": "/embed#how-do-i-translate-the-widget-into-another-language",
    "How do I turn the widget off?": "/embed#how-do-i-turn-the-widget-off",
    "How do I count page views?": "/embed#how-do-i-count-page-views",
    "Does Googlebot count as a visitor?": "/how-visitors-are-counted#who-counts-as-ai",
    "Is ChatGPT counted?": "/how-visitors-are-counted#who-counts-as-ai",
    "Can I import nginx logs?": "/commands#importlog",
    "How long are page views stored?": "/privacy#how-long",
    "How do I export visitors as CSV?": "/commands#exportvisitors",
    "Which questions could the assistant not answer?": "/analytics-api#which-questions-could-the-assistant-not-answer",
    "How do I run it with Docker?": "/deployment#docker",
    "How do I put nginx in front?": "/deployment#the-proxy",
    "How do I run several processes?": "/at-scale#how-do-i-run-several-processes",
    "How do I change the port?": "/commands#serve",
    "How do I create an admin user?": "/dashboard /commands#djangos-own /security#i-forgot-the-admin-password",
    "I forgot the admin password": "/security#i-forgot-the-admin-password",
    "How do I add a teammate?": "/security#add-a-teammate",
    "How do I use it with React?": "/assistant-api /your-tools#does-it-work-with-react-or-nextjs",
    "How do I call the search from my own code?": "/search-api",
    "How do I filter by version?": "/search-api#filters",
    "How do I exclude a page from search?": "/sources#how-do-i-exclude-a-page-from-search",
    "How do I rank a page higher?": "/sources#how-do-i-rank-a-page-higher",
    "Can the assistant make things up?": "/how-it-works#can-the-assistant-make-things-up",
    "How do I limit the cost of the model?": "/models#how-do-i-limit-the-cost-of-the-model",
    "Is there a limit on the number of pages?": "/deployment#is-there-a-limit-on-the-number-of-pages",
    "Which license does it have?": "/models#which-license-does-it-have",
    "Which languages are supported?": "/how-it-works#which-languages-are-supported",
    "How do I give the assistant instructions?": "/dashboard#how-do-i-give-the-assistant-instructions",
    "What happens when the model server is down?": "/models#what-happens-when-the-model-server-is-down",
    "How do I check that answers are still right?": "/how-it-works#how-do-i-check-that-answers-are-still-right",
    "How many of my readers' questions are answered rightly?": "/commands#evaluate-the-answers-that-readers-get "
    "/how-it-works#how-do-i-check-that-answers-are-still-right",
    "How do I report a vulnerability?": "/security#reporting",
    "Is there a health check?": "/deployment#health-check-and-monitoring",
    "What is fp?": "/privacy#questions /assistant-api#request /assistant-api#threads",
    "How do I resume an answer after a reload?": "/assistant-api#go-on-after-a-reload /streaming#resuming",
    "How do I stop a running answer?": "/assistant-api#stop-a-running-answer /streaming#stopping",
    "How do I add golden questions?": "/commands#golden",
    "What is llms.txt for?": "/#for-agents-and-scripts /agents-on-your-site#what-the-service-serves",
    "How do I collect feedback?": "/collecting#collecting-feedback",
    "How is the score computed?": "/search-api#how-the-score-is-computed",
    "What is a thread?": "/assistant-api#threads",
    "Does it work offline without internet?": "/models#does-it-work-offline-without-internet",
    "How can a reader reach a person?": "/webhooks#support-requests /webhooks#how-a-reader-reaches-a-person",
    "Can I change the system prompt?": "/dashboard#how-do-i-give-the-assistant-instructions",
    "How do I allow another origin?": "/security#origins",
    "How do I run it with systemd?": "/deployment#a-server",
    "Does the widget slow down my page?": "/embed#does-the-widget-slow-down-my-page",
    "Is the widget accessible by keyboard?": "/embed#what-readers-can-do",
    "How do I open the widget from my own button?": "/embed#from-your-own-code",
    "How do I index an OpenAPI file?": "/sources#openapi",
    "Why are links in answers broken?": "/troubleshooting#why-are-links-in-answers-broken",
    "My visitor counts are too low": "/troubleshooting#counts-are-too-low",
    "What do I do when it does not start?": "/troubleshooting#it-does-not-start",
    "How do I remove the demo data?": "/privacy#remove-the-demo-data",
    "Can two projects share one service?": "/deployment#can-two-projects-share-one-service",
    # In the words of readers who do not know ours.
    "the chat button does not show up on my page, why": CHAT_BUTTON,
    "the launcher is not showing": CHAT_BUTTON,
    "chat bubble not visible on localhost": CHAT_BUTTON,
    "origin not allowed": "/troubleshooting#what-does-origin-not-allowed-mean",
    "where do i put my openai api key": "/models#where-do-i-put-my-openai-api-key",
    "my pages are not updated": "/troubleshooting#why-are-my-pages-not-updated",
    "where are the logs": "/troubleshooting#where-are-the-logs",
    "how do i reset my admin password": "/security#i-forgot-the-admin-password",
    "how do i change the color of the button": "/embed#how-do-i-change-the-colour-of-the-widget",
    "multiple sites one server": "/deployment#can-two-projects-share-one-service",
    "keyboard shortcut for search": "/embed",
    "how much does it cost": "/models#what-does-it-cost",
    "how to add a user": "/security#add-a-teammate /security#roles",
    "which python version": "/deployment#what-are-the-system-requirements",
    "widget is blocked by csp": "/embed#content-security-policy",
}


@pytest.fixture(scope="module")
def docs(django_db_setup: None) -> Any:
    """A project with the pages of the demo."""
    from docsite.core.tenants.management.commands.createproject import create_project

    project, *_ = create_project(f"own-docs-{os.getpid()}", "Own documentation", "https://docs.example.com", [])
    ingest(project, read(SourceRequest(str(CONTENT), project.docs_url, language=DEFAULT_LANGUAGE)))
    return project


@pytest.mark.parametrize("question", first_of(QUESTIONS, 12))
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


# Nothing in the documentation answers these. The last one follows up a question that it answers.
FOREIGN = [
    Question("what's the best pizza in naples"),
    Question("write me a python fibonacci function"),
    Question("How do I set up SCIM provisioning?"),
    Question("best pizza?"),
    Question("is there a pizza on this page?"),
    Question("asdf qwer zxcv 12345"),
    Question("Kannst du mir ein Rezept für Apfelkuchen geben?"),
    Question("and pizza?", previous_questions="How do I put the widget on my site?"),
]
SELECTIONS = {
    "a text of another page": ("textSelection", "The widget sends nothing before the reader asks."),
    "code of another page": ("code", "manage.py createproject"),
    "a text of no page": ("textSelection", "Margherita has tomatoes, mozzarella and basil."),
}
OUTCOMES = ["nearest_pages", "closest_passages", "extractive"]  # without a model, from a refusal to an answer


def outcome(project: Any, question: Question, path: str = "", *selected: tuple[str, str]) -> int:
    """What becomes of a question without a model, as a place in OUTCOMES."""
    context = [Context(value, path, kind) for kind, value in selected]
    rung, _ = find(project, replace(question, current_path=path, context=context)).quotable(AnswerSettings())
    return OUTCOMES.index(rung)


@pytest.mark.matrix
@pytest.mark.parametrize("question", first_of(FOREIGN, 1), ids=lambda question: question.text)
def test_no_page_and_no_selection_raises_an_outcome(docs: Any, question: Question) -> None:
    alone = outcome(docs, question)
    assert OUTCOMES[alone] != "extractive"
    paths = [*Document.indexed.filter(project=docs).values_list("path", flat=True), "/nowhere"]
    assert len(paths) > 30
    assert [path for path in paths if outcome(docs, question, path) > alone] == []
    pages = ["", "/embed", "/commands", "/de/quickstart"]
    pairs = [(path, name) for path in pages for name in SELECTIONS]
    assert [pair for pair in pairs if outcome(docs, question, pair[0], SELECTIONS[pair[1]]) > alone] == []


@pytest.mark.parametrize(
    ("text", "path", "selected"),
    first_of(
        [
            ("Summarize this page", "/dashboard", ()),
            ("What is this page about?", "/embed", ()),
            ("Worum geht es auf dieser Seite?", "/de/quickstart", ()),
            ("Fasse diese Seite zusammen", "/de/quickstart", ()),
            ("explain this", "/embed", [("textSelection", "The widget sends nothing before the reader asks.")]),
            ("what does this mean?", "/embed", [("textSelection", "The widget sends nothing before the reader asks.")]),
            (
                "does the widget send this?",
                "/embed",
                [("textSelection", "The widget sends nothing before the reader asks.")],
            ),
        ],
        3,
    ),
)
def test_what_the_reader_points_at_is_quoted_from_the_page(docs: Any, text: str, path: str, selected: Any) -> None:
    question = Question(text, current_path=path, context=[Context(value, path, kind) for kind, value in selected])
    assert OUTCOMES[outcome(docs, question, path, *selected)] == "extractive"
    assert find(docs, question).hits[0].path == path


def test_a_page_that_the_question_does_not_find_comes_last(docs: Any) -> None:
    question, here = "How do I back up the database?", "/embed"
    alone = find_passages(docs, question).hits
    assert here not in [hit.path for hit in alone]
    selected = "The widget sends nothing before the reader asks."
    hits = find_passages(docs, question, current_path=here, context=[selected]).hits
    assert (hits[0].path, hits[-1].path) == (alone[0].path, here)

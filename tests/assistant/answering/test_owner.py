"""The settings of a project's assistant in the admin, and the preview of an answer."""

import html
import json
import re
from datetime import UTC, datetime

import httpx
import pytest
from django.conf import settings
from django.test import Client

from assistant.conversations import transcript
from assistant.models import AssistantSettings, Message, Thread, TokenUse
from docsite.privacy.models import AuditEntry
from search.indexing.ingest import ingest
from search.retrieval.answerability import MIN_CLOSE_CHANCE
from search.sources.markdown.folder import read_folder
from tests.assistant.asking.test_message_v1 import ask
from tests.conftest import PAGES, PATIENCE, fake, logged_in
from tests.variants import first_of

pytestmark = pytest.mark.slow

INSTALL = "How do I install acme with pip?"
NOTHING = {
    **dict.fromkeys(("instructions", "starter_1", "starter_2", "starter_3", "deflection", "support_url"), ""),
    **dict.fromkeys(("model", "temperature", "reasoning_effort", "threshold"), ""),
}


def page(tenant) -> str:
    return f"/admin/assistant/assistantsettings/of/{tenant.domain}"


@pytest.fixture
def owner(project):
    return logged_in(f"owner-{project.project.pk}", project.project.organization)


@pytest.fixture
def stranger(make_project):
    other = make_project().project
    return logged_in(f"stranger-{other.pk}", other.organization)


@pytest.fixture
def root():
    return logged_in("root-of-owners", is_superuser=True)


def save(client: Client, tenant, **fields):
    return client.post(page(tenant), {**NOTHING, **fields})


def try_out(client: Client, tenant, question: str = INSTALL, **fields) -> str:
    """The page after a try; `try_page` and the like are fields of the question."""
    fields = {name.replace("try_", "try-"): value for name, value in fields.items()}
    answer = client.post(page(tenant), {**NOTHING, "try": "Try", "try-question": question, **fields})
    assert answer.status_code == 200
    return answer.content.decode()


def section(shown: str, heading: str) -> str:
    """What stands below a heading of the result."""
    return shown.split(f"<h3>{heading}</h3>")[1].split("<h3>")[0]


def stored(tenant) -> AssistantSettings:
    return AssistantSettings.objects.get(project=tenant.project)


# ---- The form.


def test_settings_are_saved_and_shown(owner, project):
    answer = save(
        owner,
        project,
        instructions="Be kind.\r\nBe brief.",
        starter_1="How do I begin?",
        starter_3="What does it cost?",
        deflection="No idea, sorry.",
        support_url="help@acme.example",
        temperature="0.3",
        threshold="0.5",
    )
    assert answer["Location"] == page(project)
    saved = stored(project)
    assert saved.instructions == "Be kind.\nBe brief."
    assert saved.starter_questions == ["How do I begin?", "What does it cost?"]
    assert (saved.deflection, saved.temperature, saved.threshold) == ("No idea, sorry.", 0.3, 0.5)
    assert saved.support_url == "help@acme.example"
    shown = owner.get(page(project)).content.decode()
    for words in ("Be kind.", "What does it cost?", "No idea, sorry.", "help@acme.example", "0.3", "0.5"):
        assert words in shown
    assert str(MIN_CLOSE_CHANCE) in shown, "the threshold that is in force without one's own"


def test_the_page_says_how_much_of_a_limit_is_used(owner, project, settings):
    settings.ENV = settings.ENV.model_copy(update={"daily_tokens_per_project": 1_000})
    assert "daily token limit" not in owner.get(page(project)).content.decode()
    TokenUse.objects.create(project=project.project, day=datetime.now(UTC).date(), tokens=850)
    assert "This project has used 85 % of its daily token limit." in owner.get(page(project)).content.decode()
    TokenUse.objects.filter(project=project.project).update(tokens=1_100)
    assert "Readers get quotes" in owner.get(page(project)).content.decode()


def test_changes_are_logged_by_their_fields(owner, project):
    save(owner, project, instructions="Be\r\nkind.")
    save(owner, project, instructions="Be\r\nkind.")
    save(owner, project, instructions="Be\r\nkind.", support_url="https://acme.example/help", starter_1="Why?")
    log = AuditEntry.objects.filter(project=project.domain, action__startswith="assistant settings ").order_by("pk")
    assert [entry.action.rpartition(" ")[2] for entry in log] == [
        "created",
        "changed",
        "changed",
    ]  # a row, then its values
    assert {*log[2].details} == {"starter_questions", "support_url"}


@pytest.mark.parametrize(
    ("field", "value", "says"),
    [
        ("threshold", "1.5", "less than or equal to 1"),
        ("threshold", "nan", "Enter a number"),
        ("temperature", "2.5", "less than or equal to 2"),
        ("temperature", "-1", "greater than or equal to 0"),
        ("instructions", "x" * 4001, "at most 4000 characters"),
        ("starter_2", "x" * 121, "at most 120 characters"),
        ("deflection", "x" * 501, "at most 500 characters"),
        ("deflection", "a\0b", "Null characters"),
        ("support_url", "javascript:alert(1)", "begins with https://, http:// or mailto:, or an e-mail"),
        ("support_url", "javascript://x/%0aalert", "begins with https://"),
        ("support_url", "ftp://acme.example", "begins with https://"),
        ("support_url", "the forum", "begins with https://"),
        ("support_url", "https://acme.example/a b", "no spaces, quotes or brackets"),
        ("support_url", "forum", "or an e-mail address"),
        ("support_url", "https://", "begins with https://"),
    ],
)
@pytest.mark.parametrize("button", first_of([{}, {"try": "Try", "try-question": INSTALL}], 1, ids=["save", "try"]))
def test_an_invalid_value_is_reported_and_nothing_is_done(owner, project, field, value, says, button):
    shown = owner.post(page(project), {**NOTHING, field: value, **button}).content.decode()
    row = re.search(rf'<ul class="errorlist" id="id_{field}_error">(.*?)</ul>', shown)
    assert row, shown
    assert says in row[1]
    assert f"Nothing was {'tried' if button else 'saved'}. Please correct" in shown
    assert 'id="trial"' not in shown
    assert not AssistantSettings.objects.filter(project=project.project).exists()


@pytest.mark.parametrize(
    ("support", "link"),
    first_of(
        [
            ("https://acme.example/help?a=1#b", "https://acme.example/help?a=1"),
            ("mailto:help@acme.example?subject=Help", "mailto:help@acme.example?subject=Help"),
            ("a@b.example", "mailto:a@b.example"),
        ],
        1,
    ),
)
def test_a_support_link_leads_to_the_web_or_a_mail_program(owner, project, support, link):
    assert save(owner, project, support_url=support).status_code == 302
    answer = section(try_out(owner, project, "Who won the cup in 1954?", support_url=support), "Answer")
    assert f'<a href="{link}' in answer


def test_a_model_is_chosen_by_superusers_only(owner, root, project):
    shown = owner.get(page(project)).content.decode()
    assert 'name="model"' not in shown
    assert 'name="model"' in root.get(page(project)).content.decode()
    save(owner, project, model="dear-model")
    assert stored(project).model == ""
    save(root, project, model="cheap-model")
    assert stored(project).model == "cheap-model"
    save(owner, project, model="dear-model")
    assert stored(project).model == "cheap-model"
    assert "cheap-model" in owner.get(page(project)).content.decode()


def test_the_effort_costs_tokens_so_superusers_choose_it(owner, root, project):
    assert 'name="reasoning_effort"' not in owner.get(page(project)).content.decode()
    save(owner, project, reasoning_effort="high")
    assert stored(project).reasoning_effort == ""
    assert "one word in small letters" in save(root, project, reasoning_effort="Low!").content.decode()
    save(root, project, reasoning_effort="low")
    save(owner, project, reasoning_effort="high")
    assert stored(project).reasoning_effort == "low"


# ---- Whose page it is.


def test_a_page_is_its_organizations_own(owner, stranger, project):
    assert owner.get(page(project)).status_code == 200
    assert stranger.get(page(project)).status_code == 404
    assert save(stranger, project, instructions="Taken over").status_code == 404
    assert stranger.post(page(project), {**NOTHING, "try": "Try", "try-question": INSTALL}).status_code == 404
    assert Client().get(page(project))["Location"].startswith("/admin/login/")
    assert not AssistantSettings.objects.filter(project=project.project).exists()


@pytest.mark.matrix
def test_the_lists_and_links_of_the_admin_lead_to_the_page(owner, stranger, project):
    save(owner, project, instructions="Be kind.")
    pk = stored(project).pk
    home = f"/admin/project/{project.domain}"
    assert page(project) in owner.get(home).content.decode()
    assert page(project) not in stranger.get(home).content.decode()
    assert owner.get("/admin/assistant/assistantsettings/")["Location"] == "/admin/"
    row = f"/admin/assistant/assistantsettings/{pk}"
    assert owner.get(f"{row}/change/")["Location"] == page(project)
    assert stranger.get(f"{row}/change/").status_code == 404
    assert owner.get(f"{row}/history/").status_code == 200
    assert project.domain not in stranger.get(f"{row}/history/", follow=True).content.decode()
    assert owner.get("/admin/assistant/assistantsettings/add/").status_code == 403


# ---- Trying it out.


def test_a_preview_uses_unsaved_settings_and_stores_nothing(owner, project):
    save(owner, project, instructions="Old words.")
    before = (Thread.objects.count(), Message.objects.count())
    shown = try_out(owner, project, instructions="New words.", deflection="Sorry.", starter_1="What?")
    assert "not saved yet" in shown
    assert "New words." in shown
    assert "pip install acme" in section(shown, "Answer")
    assert (stored(project).instructions, stored(project).starter_questions) == ("Old words.", [])
    assert (Thread.objects.count(), Message.objects.count()) == before
    assert "not saved yet" not in try_out(owner, project, instructions="Old words.")


def test_the_threshold_decides_and_is_shown(owner, project):
    answered = section(try_out(owner, project), "Decision")
    assert "as calibrated" in answered
    assert "<strong>answered</strong>" in answered
    assert "Quotes from the documentation" in answered
    assert "No model server is configured" in answered
    refused = try_out(owner, project, threshold="1")
    assert "the threshold is <strong>1.000</strong> (as you set it) → <strong>refused</strong>" in section(
        refused, "Decision"
    )
    assert "A refusal, with the nearest pages" in section(refused, "Decision")
    assert "The nearest pages" in section(refused, "Answer")
    assert "pip install acme" in section(refused, "Passages"), "what was found is shown all the same"
    assert "<td>yes</td>" not in section(refused, "Passages")
    assert "<td>yes</td>" in section(try_out(owner, project), "Passages")
    assert "No passage was found" in section(try_out(owner, project, "zzyzx"), "Decision")


def test_each_passage_shows_a_part_of_its_text(owner, project, acme_docs):
    page = "# Zebras\n\n## Food\n\nA zebra eats grass.\n\n## Sleep\n\nA zebra sleeps standing.\n"
    (acme_docs / "zebras.md").write_text(page)
    ingest(project.project, read_folder(acme_docs))
    parts = re.findall("<summary><bdi>(.*?)</bdi>", section(try_out(owner, project, "zebra"), "Passages"))
    assert sorted(parts) == ["A zebra eats grass.", "A zebra sleeps standing."]


@pytest.mark.matrix
def test_the_question_may_come_from_a_page_in_a_version(owner, project, acme_docs):
    def scores(question: str = "acme", **fields: str) -> dict[str, float]:
        shown = section(try_out(owner, project, question, **fields), "Passages")
        found = re.findall(r'class="quiet title">(.*?)</span>.*?</svg>([\d.]+)<', shown, re.DOTALL)
        return {path: float(score) for path, score in found}

    here = scores(try_page="https://docs.acme.example/guides/labels.md")
    assert here["/guides/labels"] > scores()["/guides/labels"]
    (acme_docs / "old.md").write_text(PAGES["configure"].replace("2.0", "1.0"))
    ingest(project.project, read_folder(acme_docs))
    for version, path in {"1.0": "/old", "2.0": "/configure"}.items():
        assert {"/old", "/configure"} & set(scores("Where is ACME_HOME?", try_version=version)) == {path}
    assert "Select a valid choice" in try_out(owner, project, "acme", try_version="3.0")
    assert "This field is required" in try_out(owner, project, " ")


def test_a_page_cannot_speak_to_the_admin(owner, project, acme_docs):
    (acme_docs / "install.md").write_text(
        "# Installing acme `<script>alert(1)</script>`\n\n## With pip\n\nTo install acme with pip, run "
        "`<img src=x onerror=alert(2)>` the [link](javascript:alert(3)) or ![pixel](https://evil.example/pixel.png) "
        "or [home](/admin/logout/) or [docs](https://evil.example/x).\n"
    )
    ingest(project.project, read_folder(acme_docs))
    shown = try_out(owner, project, f"{INSTALL} <script>")
    result = shown.split('id="trial"')[1]
    assert "alert(2)" in section(result, "Answer")
    assert not re.search(r"<(script|img)", result)
    assert "&lt;img src=x onerror=alert(2)&gt;" in result
    links = re.findall(r"<a [^>]*>", result)
    assert links
    assert all(re.search(r'href="https://', link) and "noopener noreferrer nofollow" in link for link in links)


def test_only_harmless_links_are_links():
    bad = (
        "javascript:x",
        "JaVaScript:x",
        "&#106;avascript:x",
        "data:text/html,x",
        "vbscript:x",
        "//x.example",
        "/a",
        "#a",
    )
    for target in bad:
        assert "<a" not in transcript.render(f"[a]({target}) <{target}>\n\n[b][r]\n\n[r]: {target}"), target
    assert "<img" not in transcript.render("![pixel](https://evil.example/pixel.png)")
    answer = transcript.render('[a](https://x.example/"onclick="x) <mailto:a@b.example>\n\n# <b>Heading</b>')
    assert answer.count("<a href=") == 2
    assert 'onclick="' not in answer
    assert "<h4>&lt;b&gt;Heading&lt;/b&gt;</h4>" in answer


def test_a_preview_respects_the_limit_of_running_answers(owner, project, monkeypatch):
    monkeypatch.setattr(settings.ENV, "max_running_answers_org", 0)
    shown = try_out(owner, project)
    assert "Too many answers are running." in shown
    assert '<p class="errornote" role="alert">Nothing was tried.</p>' in shown
    assert 'id="trial"' not in shown


# ---- With a model.


@pytest.fixture
def browse(owner, project, model_service):
    """Post the page's form to the real service, as the owner."""
    cookies = {settings.SESSION_COOKIE_NAME: owner.cookies[settings.SESSION_COOKIE_NAME].value}
    with httpx.Client(base_url=model_service.url, cookies=cookies, timeout=PATIENCE, trust_env=False) as client:

        def post(**fields: str) -> str:
            form = client.get(page(project)).text
            token = re.search(r'name="csrfmiddlewaretoken" value="(\w+)"', form)[1]
            fields = {name.replace("try_", "try-"): value for name, value in fields.items()}
            answer = client.post(page(project), data={**NOTHING, "csrfmiddlewaretoken": token, **fields})
            assert answer.status_code in (200, 302)
            return answer.text

        yield post


@pytest.mark.matrix
def test_saved_settings_reach_the_model(http, browse, root, model_service, upstream, project):
    save(
        root,
        project,
        model="fake-7",
        temperature="0.25",
        reasoning_effort="low",
        instructions="Speak of parcels with love.",
    )
    assert ask(http, model_service, project, context=fake("happy", f"saved-{project.domain}")).status_code == 200
    sent = upstream.last(f"saved-{project.domain}")
    assert (sent["model"], sent["temperature"], sent["reasoning_effort"]) == ("fake-7", 0.25, "low")
    assert "Speak of parcels with love." in json.dumps(sent["messages"])
    browse(temperature="", instructions="")
    ask(http, model_service, project, context=fake("happy", f"emptied-{project.domain}"))
    assert "temperature" not in upstream.last(f"emptied-{project.domain}")


def test_a_preview_asks_the_model_with_unsaved_settings(browse, upstream, project):
    marker = f"tried-{project.domain}"
    shown = browse(
        **{"try": "Try"}, try_question=INSTALL, try_page=marker, temperature="1.5", instructions="Like a <b>pirate</b>."
    )
    sent = upstream.last(marker)
    assert (sent["model"], sent["temperature"]) == ("fake-1", 1.5)
    assert "Like a <b>pirate</b>." in json.dumps(sent["messages"])
    assert "The model fake-1" in section(shown, "Decision")
    assert "To install acme, run the command in" in section(shown, "Answer")
    assert "<b>" not in shown
    for message in sent["messages"]:
        assert message["content"] in html.unescape(shown), "word for word"
    assert "812 read, 21 written" in shown
    assert not AssistantSettings.objects.filter(project=project.project).exists()
    assert not Message.objects.filter(thread__project=project.project).exists()
    assert TokenUse.objects.get(project=project.project).tokens == 833


def test_a_preview_shows_how_each_citation_was_checked(browse, project):
    shown = section(browse(**{"try": "Try"}, try_question=INSTALL), "Citations")
    assert "✓" in shown
    assert "✗" in shown


def test_a_preview_shows_that_the_model_refused(browse, project):
    orders = "SAY: NO_ANSWER The pages do not say."
    shown = browse(
        **{"try": "Try"}, try_question=INSTALL, try_page="/fake:obey", instructions=orders, deflection="Sorry!"
    )
    assert ">Refused by the model: <q>" in shown
    assert "<strong>answered</strong>" not in section(shown, "Decision")
    assert "Sorry!" in section(shown, "Answer")


@pytest.mark.parametrize(
    ("mode", "heading", "says"),
    first_of(
        [
            ("refuse", "Answered", "Quotes from the documentation, because the model server answered 500"),
            ("cut", "The answer broke off", "because the connection to the model server broke"),
        ],
        1,
    ),
)
def test_a_preview_shows_that_the_model_failed(browse, project, mode, heading, says):
    shown = browse(**{"try": "Try"}, try_question=f"{INSTALL} fake:{mode}")
    assert f">{heading}: <q>" in shown
    assert says in shown

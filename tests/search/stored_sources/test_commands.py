"""What the `ingest` command reads without a name is listed among the sources, and only the command reads it again."""

import io

import pytest
from django.core.management import CommandError, call_command
from django.urls import reverse

from search.models import Source
from search.stored_sources import queue, runs

pytestmark = pytest.mark.usefixtures("clock")


def ingest(tenant, *arguments):
    out = io.StringIO()
    call_command("ingest", tenant.domain, *map(str, arguments), stdout=out, stderr=out)
    return out.getvalue()


@pytest.fixture
def docs(tmp_path):
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "zebra.md").write_text("# Zebra\n\nStripes.\n")
    (tmp_path / "docs" / "walrus.md").write_text("# Walrus\n\nTusks.\n")
    (tmp_path / "mkdocs.yml").write_text("site_name: Animals\n")
    return tmp_path


def test_what_a_command_read_is_listed_with_its_location_generator_pages_and_command(tenant, people_of, docs):
    printed = ingest(tenant, docs, "--language", "en")
    assert "Detected: mkdocs. If that is wrong, name another with --generator." in printed
    assert "Compare with your site: https://docs.acme.example/walrus/ https://docs.acme.example/zebra/\n" in printed
    owner, stranger = people_of(tenant)
    source = tenant.project.sources.get()
    assert (source.by_command, source.location, source.state, source.due_at) == (True, str(docs), "done", None)
    listed = owner.get(reverse("admin:search_source_changelist")).content.decode()
    assert "Read by command" in listed
    assert '<td class="field-pages">2</td>' in listed
    assert "mkdocs" in listed
    page = reverse("admin:search_source_change", args=[source.pk])
    shown = owner.get(page).content.decode()
    assert f"manage.py ingest {tenant.domain} {docs} --language en" in shown
    assert "Read again now" not in shown
    assert stranger.get(page).status_code == 302
    assert owner.post(reverse("admin:search_source_read", args=[source.pk])).status_code == 405
    assert owner.post(page, {"location": "https://x.example/"}).status_code == 403


def test_it_is_one_row_that_neither_the_queue_nor_the_command_reads(tenant, docs):
    ingest(tenant, docs)
    (docs / "docs" / "seal.md").write_text("# Seal\n\nWhiskers.\n")
    ingest(tenant, docs, "--version", "2")
    source = tenant.project.sources.get()
    assert (source.version, source.outcome["added"]) == ("2", 1)
    assert queue.claim_next() is None
    with pytest.raises(CommandError, match="has no stored sources"):
        ingest(tenant)


def test_it_is_deleted_with_its_pages_and_no_others(tenant, people_of, docs, tmp_path):
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "heron.md").write_text("# Heron\n\nFish.\n")
    ingest(tenant, tmp_path / "other", "--name", "birds")
    ingest(tenant, docs)
    owner, _ = people_of(tenant)
    source = tenant.project.sources.get(by_command=True)
    asked = owner.get(reverse("admin:search_source_delete", args=[source.pk])).content.decode()
    assert "2 pages leave the index" in asked
    runs.remove(source)
    assert list(tenant.project.documents.values_list("path", flat=True)) == ["/heron"]
    assert list(Source.objects.filter(project=tenant.project).values_list("name", flat=True)) == ["birds"]


@pytest.fixture
def people_of(make_project):
    from tests.conftest import logged_in

    def log_in(tenant):
        other = make_project()
        return (
            logged_in(f"owner-{tenant.domain}", tenant.project.organization),
            logged_in(f"stranger-{other.domain}", other.project.organization),
        )

    return log_in

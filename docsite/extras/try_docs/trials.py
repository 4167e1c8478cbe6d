"""Throw-away projects: make one and have its pages read, keep it, delete it."""

import subprocess
import sys
import threading

from django.conf import settings
from django.core.exceptions import ValidationError
from django.db import connection, transaction
from django.utils import timezone

from docsite.core.tenants.models import ApiKey, Organization, Project
from docsite.core.unicode.addresses import urlsplit
from docsite.extras.try_docs.models import LIFETIME, Trial
from docsite.setup.drafts import propose_domain
from docsite.setup.forms import SOURCE_NAME
from search.models import Document, Source
from search.stored_sources import queue
from search.stored_sources.worker import explain_end

MAX_TRIALS = 10  # of an organization at a time
MAX_RUNNING = 2  # that are read at a time
MAX_SECONDS = 90.0  # for everything; then the process that reads is killed


def create(organization: Organization, location: str) -> Project:
    """Make a project of the site at an address, and begin to read it. Raises ValueError with a sentence.

    Call `make_room` before.
    """
    parts = urlsplit(location)
    docs_url = f"{parts.scheme}://{parts.netloc}"
    with transaction.atomic():
        project = Project(organization=organization, name=parts.hostname or "", docs_url=docs_url)
        project.domain = propose_domain(docs_url)
        try:
            project.full_clean()
        except ValidationError as wrong:
            raise ValueError(" ".join(wrong.messages)) from None
        project.save()
        Trial.objects.create(project=project)
        ApiKey.issue(ApiKey.Kind.ASSISTANT, organization, project, name="Trial")
        source = Source.objects.create(project=project, name=SOURCE_NAME, location=location)
    queue.take_over(source)
    _begin(source)
    return project


def make_room(organization: Organization) -> None:
    """Delete trials that failed without a page.

    Raises ValueError with a sentence at `MAX_TRIALS` of the organization, or `MAX_RUNNING` of all organizations.
    """
    trials = Trial.objects.filter(project__organization=organization)
    for failed in trials.filter(project__sources__state=Source.State.FAILED).select_related("project"):
        if not Document.indexed.filter(project=failed.project).exists():
            failed.project.delete()
    if trials.count() >= MAX_TRIALS:
        raise ValueError(f"{MAX_TRIALS} trials are stored. Delete one, or wait until tomorrow.")
    running = Source.objects.filter(state=Source.State.RUNNING, leased_until__gt=timezone.now())
    if running.filter(project__in=Trial.objects.values("project")).count() >= MAX_RUNNING:
        raise ValueError(f"{MAX_RUNNING} other sites are being read. Try again in half a minute.")


def find(domain: str, organizations: "list[int]") -> Project | None:
    """The project of a trial in one of these organizations."""
    trial = Trial.objects.filter(project__domain=domain, project__organization__in=organizations)
    return found.project if (found := trial.select_related("project__organization").first()) else None


def keep(project: Project) -> None:
    """Make the trial a project like any other, and have all of its pages read."""
    Trial.objects.filter(project=project).delete()
    for source in project.sources.all():
        queue.enqueue(source)


def delete_old() -> None:
    """Delete the projects of trials that are older than a day."""
    for trial in Trial.objects.filter(created_at__lt=timezone.now() - LIFETIME).select_related("project"):
        trial.project.delete()


def _begin(source: Source) -> None:
    threading.Thread(target=_run_reader, args=(source,), name="reader of a trial", daemon=True).start()


def _run_reader(source: Source) -> None:
    """Run the process that reads a claimed source (`docsite.extras.try_docs.reading`), and wait for its end.

    It has its own process, as scheduled sources have, but not their queue: nobody waits for a large source of others.
    """
    command = [sys.executable, "-m", "docsite.extras.try_docs.reading", str(source.pk), source.holder]
    try:
        with subprocess.Popen(command, cwd=settings.BASE_DIR, stdin=subprocess.PIPE) as reader:
            try:
                says = explain_end(reader.wait(MAX_SECONDS))
            except subprocess.TimeoutExpired:
                reader.kill()
                says = f"was ended, since it took longer than {MAX_SECONDS:.0f} seconds."
        queue.fail(source, f"The process that read it {says}")
    finally:
        connection.close()

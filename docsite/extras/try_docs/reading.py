"""The process that reads a site for a trial: `python -m docsite.extras.try_docs.reading SOURCE HOLDER`.

It ends with the serving process, as `search.stored_sources.worker` does.
"""

import logging
import re
import sys
import threading
from typing import TYPE_CHECKING, Any

from search.stored_sources import worker

if TYPE_CHECKING:
    from docsite.core.tenants.models import Project
    from search.models import Source

logger = logging.getLogger(__name__)

LIMITS: dict[str, Any] = {"max_pages": 200, "max_seconds": 20.0}  # of the reading
_NO_PRODUCT = re.compile(r"(?<!\s)\s+(?:documentation|docs|handbook|manual|user guide|\(|v?\d)", re.IGNORECASE)
ENOUGH = 2  # starter questions from the headings of pages


def main(pk: int, holder: str) -> None:
    """Look at the site, name the project after it, and read its pages. The outcome is stored with the source.

    Nothing is stored for a trial that was deleted meanwhile.
    """
    from django.db import DatabaseError

    from search.models import Source
    from search.stored_sources import queue, runs

    source = Source.objects.select_related("project").filter(pk=pk, holder=holder).first()
    if source is None:
        return
    try:
        _name_project(source)
        runs.run(source, abort=worker.abort, after_swap=lambda: _try_to_add_starters(source.project), **LIMITS)
    except SystemExit:
        queue.fail(source, runs.STOPPED)
        raise
    except DatabaseError:
        if Source.objects.filter(pk=pk).exists():
            raise
    except Exception as error:
        if not runs.is_user_error(error):
            raise
        queue.fail(source, runs.as_sentence(error))


def _name_project(source: "Source") -> None:
    """Give the project the name and the address that its site has. Raises ValueError with a sentence."""
    from django.conf import settings
    from django.core.exceptions import ValidationError
    from django.db import transaction

    from assistant.models import WidgetSettings
    from search.sources.detection import detect
    from search.sources.request import SourceRequest

    private_hosts = settings.ENV.crawl_private_hosts
    found = detect(SourceRequest(source.location, "", private_hosts=private_hosts))
    project = source.project
    project.docs_url = found.base_url or project.docs_url
    project.name = (found.name or project.name)[:200]
    try:
        project.full_clean()
    except ValidationError as wrong:
        raise ValueError(" ".join(wrong.messages)) from None
    labels = {"name": f"Ask {project.name}"}
    with transaction.atomic():
        project.save(update_fields=["name", "docs_url"])  # without the names it would bring a deleted project back
        WidgetSettings.objects.update_or_create(project=project, defaults={"labels": labels})


def _try_to_add_starters(project: "Project") -> None:
    """As `_add_starters`; its errors are logged, since the pages are there without it."""
    from django.db import transaction

    try:
        with transaction.atomic():
            _add_starters(project)
    except Exception:
        logger.exception("No starter questions could be stored for the trial of %s.", project.docs_url)


def _add_starters(project: "Project") -> None:
    """Where headings make few questions, store some about the site's name, if its pages answer them."""
    from assistant.answering.passage_search import find
    from assistant.answering.question import Question
    from assistant.models import AssistantSettings
    from assistant.widget import starters
    from search.retrieval.answerability import MIN_CHANCE

    chosen = starters.propose(project)
    if len(chosen) >= ENOUGH:
        return
    name = _NO_PRODUCT.split(project.name)[0]
    about = (f"What is {name}?", f"How do I install {name}?", f"How do I use {name}?")
    known = {question.casefold() for question in chosen}
    further = [question for question in about if question.casefold() not in known]
    chosen += [question for question in further if find(project, Question(question)).chance >= MIN_CHANCE]
    AssistantSettings.objects.update_or_create(project=project, defaults={"starter_questions": chosen[:3]})


if __name__ == "__main__":
    worker.begin(niceness=0)  # somebody waits for it
    threading.Thread(target=worker.exit_with_parent, name="exit_with_parent", daemon=True).start()
    main(int(sys.argv[1]), sys.argv[2])

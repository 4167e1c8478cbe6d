"""Erases page views, visit histories and feedback."""

from analytics.collecting import view_log, writer
from analytics.collecting.recording import possible_visitors
from analytics.counting import erasure as counts
from analytics.identity import key_rotation
from analytics.models import Feedback
from assistant.asking.erasure import find_threads
from docsite.core.components.erasure import EVERYTHING, NotErasable, Subject

LOG_SECONDS = 30.0  # that an erasure waits for views in the log


def erase(subject: Subject) -> dict[str, int]:
    """Delete what a subject left. Returns how many rows of each kind.

    The counts stay when a visitor is erased: they are numbers. So do the positions of imports, without which the next
    import of the same log would store the visitor again.
    """
    project, everything = subject.project, subject.whose == EVERYTHING
    if everything or subject.address:
        _store_waiting_views()
    if subject.address:
        visitors = possible_visitors(project, subject.address, subject.user_agent, subject.reader_id)
        return counts.erase_visitors(project, visitors)
    threads = find_threads(subject)
    if threads is None:
        return {}
    feedback = Feedback.objects.filter(project=project)
    _, deleted = (feedback if everything else feedback.filter(message__thread__in=threads)).delete()
    erased = {"feedback": deleted.get(Feedback._meta.label, 0)}
    if everything:
        erased |= counts.erase_project(project)
        key_rotation.forget(project)
    return erased


def _store_waiting_views() -> None:
    """Let views that wait come to the database, where they are erased. Raises `NotErasable`."""
    writer.flush()
    if not view_log.wait_until_stored(LOG_SECONDS):
        raise NotErasable(
            "The view log (VIEW_LOG_URL) may hold views that are not in the database yet. Nothing was erased. "
            "Try again when `manage.py doctor` shows that messages no longer wait for long."
        )

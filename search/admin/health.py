"""What the page "Limits and health" shows of the search: the index and the sources."""

from docsite.core.tenants.models import Project
from docsite.core.workspace.health.sections import Fact, add_section
from search.admin.sources import format_age
from search.indexing.build import ANALYSER_VERSION
from search.models import Document, Generation, Index, Source, VectorIndex
from search.retrieval import index_state

MAX_SOURCES = 20


def list_index(project: Project) -> list[Fact]:
    """How fresh the index is."""
    generation = Generation.objects.filter(pk=project.pk).first()
    if generation is None or generation.indexed_at is None:
        return [Fact("Index", "empty", "add a source, and its pages are indexed")]
    pages = Document.objects.filter(project=project).count()
    facts = [
        Fact(
            "Last change",
            format_age(generation.indexed_at),
            f"{generation.indexed_at:%Y-%m-%d %H:%M} UTC",
        ),
        Fact("Pages", f"{pages:,}", f"index number {generation.number:,}"),
    ]
    analyser = Index.objects.filter(pk=project.pk).values_list("analyser", flat=True).first()
    if analyser != ANALYSER_VERSION:
        note = f"the pages were indexed by rules {analyser or 'of an earlier release'}; read the sources again"
        facts.append(Fact("Rules of the index", ANALYSER_VERSION, note, state="bad"))
    else:
        facts.append(Fact("Rules of the index", ANALYSER_VERSION, "all pages are indexed by them", state="good"))
    vectors = VectorIndex.objects.filter(pk=project.pk).first()
    if vectors and vectors.model:
        is_current = vectors.generation == generation.number
        note = "complete" if is_current else "being made for the newest pages"
        facts.append(Fact("Sentence vectors", vectors.model, note, state="good" if is_current else ""))
    sets, refused = index_state.count_group_sets(project)
    if sets:
        note = f"{refused:,} searches by readers of other sets took longer" if refused else "kept ready in this process"
        value = f"{sets} of {index_state.MAX_GROUP_SETS}"
        facts.append(Fact("Sets of readers' groups", value, note, state="bad" if refused else ""))
    return facts


def list_sources(project: Project) -> list[Fact]:
    """The state of each source, and when it was read completely."""
    facts = []
    for source in Source.objects.filter(project=project).order_by("name")[:MAX_SOURCES]:
        is_silent = source.state == Source.State.RUNNING and not source.is_held
        value = "the process that read it does not respond" if is_silent else source.get_state_display().lower()
        read = f"read {format_age(source.read_at)}" if source.read_at else "never read completely"
        due = f"; next {source.due_at:%Y-%m-%d %H:%M} UTC" if source.due_at else ""
        is_bad = is_silent or source.state == Source.State.FAILED
        facts.append(Fact(source.name, value, read + due, state="bad" if is_bad else "good" if source.read_at else ""))
    return facts or [Fact("Sources", "none stored", "pages may come in by command, too")]


add_section("Index", list_index, position=50)
add_section("Sources", list_sources, position=55)

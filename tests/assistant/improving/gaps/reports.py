"""Every query of the reports of gaps and questions once, for databases of other kinds."""


def check_reports() -> None:
    """Group a few questions and a search, and read every report of them."""
    from datetime import timedelta

    from django.utils import timezone

    from assistant.improving.gaps import asking_again, group_report, nearest, questions, report
    from assistant.improving.question_groups import grouping
    from assistant.models import QuestionGroup
    from docsite.core.tenants.management.commands.createproject import create_project
    from search.models import SearchQuery
    from tests.assistant.improving.gaps.conftest import skip_earlier, store_answer

    skip_earlier()
    project, _, _ = create_project("gaps-anywhere", "Gaps", "https://docs.acme.example", [])
    for text, outcome in (("rotate keys", "refused"), ("Rotating a key", "answered"), ("labels", "unsupported")):
        store_answer(project, text, outcome, page_path="/install")
    now = timezone.now()
    SearchQuery.objects.create(project=project, at=now - timedelta(hours=2), text="rotate the keys", result_count=0)
    assert grouping.catch_up()
    nearest.find_due()
    group = QuestionGroup.objects.get(project=project, terms=" key rotat ")
    QuestionGroup.objects.filter(pk=group.pk).update(state="fixed", fixed_at=now - timedelta(days=1))
    asking_again.ask_due()
    window = now - timedelta(days=1), now + timedelta(days=1)
    counts = report.count_gaps(project, *window, words="rotation")
    (gap,) = report.describe(project, counts, *window)
    assert (gap.text, gap.count.now, dict(gap.problems)) == ("rotate the keys", 2, {"refused": 1, "no_result": 1})
    assert gap.effect == report.measure_effect(project) == report.Effect(0, 0, 1, 2)
    assert [count_gap.total for count_gap in report.count_gaps(project, *window, state="open", order="-latest")] == [1]
    totals = questions.summarize(project, [window], questions.QuestionFilters(page="/install"))
    assert (totals.total, totals.answered, sum(map(len, totals.steps))) == (3, 1, 3)
    assert questions.count_pages(project, *window, questions.QuestionFilters()) == [("/install", 3)]
    assert questions.count_groups(project, *window, questions.QuestionFilters())[0][:3] == (group.pk, 2, 1)
    assert len(group_report.load_group(project, group, *window).wordings) == 3
    grouping.sweep()

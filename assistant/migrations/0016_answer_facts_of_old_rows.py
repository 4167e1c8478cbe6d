from django.db import migrations
from django.db.models import Case, F, Max, OuterRef, Q, Subquery, Value, When

BATCH = 2000  # messages of one transaction, so that questions do not wait for long

REFUSED = "the model found no answer in the passages"


def fill(apps, schema_editor):
    """Set the project of each message. Set the outcome of answers where the other columns tell it."""
    messages = apps.get_model("assistant", "Message").objects.using(schema_editor.connection.alias)
    threads = apps.get_model("assistant", "Thread").objects.using(schema_editor.connection.alias)
    project = Subquery(threads.filter(pk=OuterRef("thread")).values("project")[:1])
    done, cited = Q(state="done"), ~Q(sources=[])
    outcome = Case(
        When(state="running", then=Value("running")),
        When(state__in=["aborted", "interrupted"], then=Value("cut")),
        When(state="error", then=Value("failed")),
        When(done & cited & Q(rung="closest_passages"), then=Value("closest_passages")),
        When(done & cited, then=Value("answered")),
        When(done & (Q(rung="nearest_pages") | Q(reason=REFUSED)), then=Value("refused")),
        When(done & Q(rung="extractive", hits=[]), then=Value("greeting")),
        When(done & Q(rung__in=["model", "second_model"]), then=Value("unsupported")),
    )
    cut_by = Case(When(state="interrupted", then=Value("service")), default=F("cut_by"))
    last = messages.aggregate(last=Max("pk"))["last"] or 0
    for start in range(0, last + 1, BATCH):
        batch = messages.filter(pk__gte=start, pk__lt=start + BATCH)
        batch.filter(project=None).update(project_id=project)
        batch.filter(role="assistant", outcome=None).update(outcome=outcome, cut_by=cut_by)


class Migration(migrations.Migration):

    atomic = False

    dependencies = [
        ('assistant', '0015_answer_facts'),
    ]

    operations = [
        migrations.RunPython(fill, migrations.RunPython.noop, elidable=True),
    ]

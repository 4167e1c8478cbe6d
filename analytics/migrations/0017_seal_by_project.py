"""One watermark and lease per project and shard, in place of one per shard of all projects.

The old table stays, empty: with it a process of the previous release seals and sweeps nothing, loses the lease that it
holds, and still answers and stores views. A later release drops it.
"""

import django.db.models.deletion
from django.db import migrations, models
from django.utils import timezone

REFUSAL = "Views of some projects are counted further than those of others. Stop all processes, run `seal`, then take this migration back again."


def split_by_project(apps, schema_editor):
    """Each project goes on where all were."""
    seal, sharding, project, mark = (
        apps.get_model(*name)
        for name in (("analytics", "Seal"), ("analytics", "Sharding"), ("projects", "Project"),
                     ("analytics", "UnsealedProject"))
    )  # fmt: skip
    with schema_editor.connection.cursor() as cursor:
        if schema_editor.connection.vendor == "postgresql":
            cursor.execute("LOCK TABLE analytics_seal")  # who is sealing finishes before, or loses the lease
        cursor.execute("SELECT shard, sealed_to, closed, token FROM analytics_seal ORDER BY shard")
        rows = cursor.fetchall()
        cursor.execute("DELETE FROM analytics_seal")
    sharding.objects.create(number=max(len(rows), 1))
    now = timezone.now()
    projects = list(project.objects.order_by("pk").values_list("pk", flat=True))
    seal.objects.bulk_create(
        [
            seal(project_id=pk, shard=shard, sealed_to=sealed_to, closed=closed, token=token, swept_at=now)
            for pk in projects
            for shard, sealed_to, closed, token in rows
        ],
        batch_size=500,
    )
    mark.objects.bulk_create([mark(project_id=pk) for pk in projects], batch_size=500)  # a sealer removes most of them


def join_projects(apps, schema_editor):
    """All projects go on from one id, if there is one up to which exactly their counted views reach."""
    seal, sharding, view = (apps.get_model("analytics", name) for name in ("Seal", "Sharding", "PageView"))
    number, newest = sharding.objects.get().number, view.objects.aggregate(newest=models.Max("pk"))["newest"] or 0
    rows = list(seal.objects.all())
    by_project = {pk: [] for pk in view.objects.order_by("project_id").values_list("project_id", flat=True).distinct()}
    for row in rows:
        by_project.setdefault(row.project_id, []).append(row.sealed_to)
    first_unsealed = [
        view.objects.filter(project=pk, pk__gt=min(sealed_to, default=0)).aggregate(first=models.Min("pk"))["first"]
        for pk, sealed_to in by_project.items()
    ]
    start = min((first - 1 for first in first_unsealed if first), default=newest)
    for pk, sealed_to in by_project.items():
        counted_after = view.objects.filter(project=pk, pk__gt=start, pk__lte=max(sealed_to, default=0))
        if len(sealed_to) not in (0, number) or counted_after.exists():
            raise RuntimeError(REFUSAL)
    closed, token = min((row.closed for row in rows), default=0), max((row.token for row in rows), default=0) + 1
    with schema_editor.connection.cursor() as cursor:
        cursor.execute("DELETE FROM analytics_seal")
        for shard in range(number):
            cursor.execute(
                "INSERT INTO analytics_seal (shard, sealed_to, closed, token, leased_until) VALUES (%s, %s, %s, %s, 0)",
                [shard, start, closed, token],
            )


class Migration(migrations.Migration):
    dependencies = [
        ("analytics", "0016_views_in_order"),
        ("projects", "0008_readable_assistant_keys"),
    ]

    operations = [
        migrations.SeparateDatabaseAndState(state_operations=[migrations.DeleteModel("Seal")]),
        migrations.CreateModel(
            name="Seal",
            fields=[
                (
                    "pk",
                    models.CompositePrimaryKey(
                        "project", "shard", blank=True, editable=False, primary_key=True, serialize=False
                    ),
                ),
                (
                    "project",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="projects.project",
                    ),
                ),
                ("shard", models.PositiveSmallIntegerField()),
                (
                    "sealed_to",
                    models.BigIntegerField(default=0, help_text="Views up to this id are counted in the cells."),
                ),
                (
                    "closed",
                    models.BigIntegerField(
                        default=0, help_text="Buckets that end by this hour are merged into longer ones."
                    ),
                ),
                ("swept_at", models.DateTimeField(db_index=True, help_text="When old views were last removed.")),
                (
                    "token",
                    models.BigIntegerField(
                        default=0, help_text="Rises with each lease. The holder of an older lease cannot write."
                    ),
                ),
                ("leased_until", models.FloatField(default=0, help_text="Unix time.")),
            ],
            options={"db_table": "analytics_projectseal"},
        ),
        migrations.CreateModel(
            name="Sharding",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("number", models.PositiveSmallIntegerField(default=1)),
            ],
        ),
        migrations.CreateModel(
            name="UnsealedProject",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "project",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="+", to="projects.project"
                    ),
                ),
            ],
        ),
        migrations.RunPython(split_by_project, join_projects),
    ]

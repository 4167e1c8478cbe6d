"""Views that are sent again are known by runs of keys, in place of a unique index over the views.

It happens in one transaction: after a kill, `migrate` begins anew. Stop the processes of the previous release first.
"""

import sys
from itertools import groupby

import django.db.models.deletion
import numpy as np
from django.db import migrations, models

from analytics.management.progress import ProgressLine

ROWS = 100_000  # of one query


def collect_keys(apps, schema_editor):
    """Store the keys of all views, those of a project and day together as far as they were stored together."""
    run, view = apps.get_model("analytics", "ViewKeys"), apps.get_model("analytics", "PageView")
    if schema_editor.connection.vendor == "postgresql":
        schema_editor.execute("LOCK TABLE analytics_pageview IN EXCLUSIVE MODE")
    total = view.objects.count()
    progress, done = ProgressLine(sys.stdout, "Ids of views", "views"), 0
    for project_id in list(view.objects.order_by("project_id").values_list("project_id", flat=True).distinct()):
        after = 0
        while rows := _select(schema_editor.connection, project_id, after):
            after = rows[-1][0]
            run.objects.bulk_create(
                run(project_id=project_id, day=day, keys=np.sort(np.array([row[1] for row in some], "<i8")).tobytes())
                for day, some in groupby(sorted(rows, key=_day_of), _day_of)
            )
            done += len(rows)
            progress(done, total)


def _select(connection, project_id, after):
    """Id, key, instant and hour of arrival of the next views of a project."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT id, key, at, received FROM analytics_pageview WHERE project_id = %s AND id > %s ORDER BY id LIMIT %s",
            [project_id, after, ROWS],
        )
        return cursor.fetchall()


def _day_of(row):
    """The day until which a view is kept: that of its arrival, or where this is not known, of the view itself."""
    return max(row[2] // 3_600_000_000, row[3]) // 24


def keep_counter(apps, schema_editor):
    """Let ids of views go on after the highest one that is counted: SQLite forgets the last id with the old table."""
    if schema_editor.connection.vendor == "sqlite":
        schema_editor.execute(
            "INSERT INTO sqlite_sequence (name, seq) SELECT 'analytics_pageview', 0 "
            "WHERE NOT EXISTS (SELECT 1 FROM sqlite_sequence WHERE name = 'analytics_pageview')"
        )
        schema_editor.execute(
            "UPDATE sqlite_sequence SET seq = MAX(seq, (SELECT COALESCE(MAX(sealed_to), 0) FROM analytics_projectseal)) "
            "WHERE name = 'analytics_pageview'"
        )


class Migration(migrations.Migration):
    dependencies = [("analytics", "0018_cascade_in_database"), ("projects", "0012_log_in_rules")]

    operations = [
        migrations.CreateModel(
            name="ViewKeys",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("day", models.PositiveIntegerField(help_text="Day on which the views arrived, in days since 1970.")),
                ("keys", models.BinaryField()),
                (
                    "project",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="projects.project",
                    ),
                ),
            ],
            options={"indexes": [models.Index(fields=["project", "id"], name="runs_in_order")]},
        ),
        migrations.RunPython(collect_keys, migrations.RunPython.noop),
        migrations.RunPython(migrations.RunPython.noop, keep_counter),  # going back makes the table anew, too
        migrations.RemoveConstraint("pageview", "a_view_counts_once"),
        migrations.RunPython(keep_counter, migrations.RunPython.noop),
    ]

"""Views by number instead of path, and the cells that they are counted in. Keeps the views that are there."""

from datetime import UTC, datetime, timedelta
from hashlib import blake2b

import django.db.models.deletion
from django.db import migrations, models

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
KEPT = (
    "client_class", "markdown", "visitor", "agent", "operator", "rule", "rules_version", "referrer", "user_agent",
    "sample",
)  # fmt: skip


def without_rowid(apps, schema_editor):
    """On SQLite the key of a trail is half of it: keep it in the table's own tree, not in a second one as well."""
    if schema_editor.connection.vendor == "sqlite":
        with schema_editor.connection.cursor() as cursor:
            cursor.execute("SELECT sql FROM sqlite_master WHERE name = 'analytics_trail'")
            (sql,) = cursor.fetchone()
            cursor.execute("DROP TABLE analytics_trail")
            cursor.execute(f"{sql} WITHOUT ROWID")


def carry_over(apps, schema_editor):
    """Copy the views of 0001, in their order."""
    old, new, page = (apps.get_model("analytics", name) for name in ("OldPageView", "PageView", "Page"))
    numbers: dict[int, dict[str, int]] = {}
    secrets: dict[int, bytes] = {}
    batch = []
    for row in old.objects.order_by("pk").select_related("project").iterator(2000):
        known = numbers.setdefault(row.project_id, {})
        if row.path not in known:
            known[row.path] = len(known) + 1
            page.objects.create(project_id=row.project_id, number=known[row.path], path=row.path)
        secret = secrets.setdefault(row.project_id, bytes.fromhex(row.project.visitor_secret))
        digest = blake2b(row.view_id.encode("utf-8", "replace"), key=secret, digest_size=8, person=b"view").digest()
        batch.append(
            new(
                project_id=row.project_id,
                key=int.from_bytes(digest, "big", signed=True),
                at=(row.at - EPOCH) // timedelta(microseconds=1),
                page=known[row.path],
                **{name: getattr(row, name) for name in KEPT},
            )
        )
        if len(batch) == 2000:
            new.objects.bulk_create(batch)
            batch.clear()
    new.objects.bulk_create(batch)


def one_shard(apps, schema_editor):
    """Sealing begins with one shard."""
    apps.get_model("analytics", "Seal").objects.create(shard=0)


class Migration(migrations.Migration):

    dependencies = [
        ("analytics", "0001_initial"),
        ("projects", "0001_initial"),
    ]

    operations = [
        migrations.RemoveConstraint("pageview", "a_view_counts_once"),
        migrations.RemoveIndex("pageview", "analytics_p_project_66b481_idx"),
        migrations.RenameModel("PageView", "OldPageView"),
        migrations.AlterField(
            "oldpageview",
            "project",
            models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="+", to="projects.project"),
        ),
        migrations.CreateModel(
            name="Seal",
            fields=[
                ("shard", models.PositiveSmallIntegerField(primary_key=True, serialize=False)),
                ("sealed_to", models.BigIntegerField(default=0, help_text="Views up to this id are in the cells.")),
                ("closed", models.BigIntegerField(default=0, help_text="Buckets that end by this hour are merged into longer ones.")),
                ("swept_at", models.DateTimeField(help_text="When old views were last removed.", null=True)),
                ("token", models.BigIntegerField(default=0, help_text="Rises with each lease: who holds an older one writes nothing.")),
                ("leased_until", models.FloatField(default=0, help_text="Unix time.")),
            ],
        ),
        migrations.CreateModel(
            name="Trail",
            fields=[
                ("pk", models.CompositePrimaryKey("project", "visitor", blank=True, editable=False, primary_key=True, serialize=False)),
                ("project", models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, to="projects.project")),
                ("visitor", models.BigIntegerField()),
                ("trimmed", models.PositiveIntegerField(help_text="Hour before which only the latest sightings are kept.")),
                ("sightings", models.BinaryField()),
            ],
        ),
        migrations.RunPython(without_rowid, migrations.RunPython.noop),
        migrations.CreateModel(
            name="Cells",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("span", models.PositiveSmallIntegerField(help_text="Hours.")),
                ("start", models.PositiveIntegerField(help_text="Hours since 1970, UTC.")),
                ("shard", models.PositiveSmallIntegerField()),
                ("blob", models.BinaryField()),
                ("project", models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, to="projects.project")),
            ],
            options={
                "constraints": [models.UniqueConstraint(fields=("project", "span", "start", "shard"), name="one_bucket_of_cells")],
            },
        ),
        migrations.CreateModel(
            name="Page",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("number", models.PositiveIntegerField()),
                ("path", models.CharField(max_length=400)),
                ("project", models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, to="projects.project")),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(fields=("project", "path"), name="a_page_has_one_number"),
                    models.UniqueConstraint(fields=("project", "number"), name="a_number_is_one_page"),
                ],
            },
        ),
        migrations.CreateModel(
            name="PageView",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("key", models.BigIntegerField(help_text="Keyed hash of the id that the client made: a repeated view counts once.")),
                ("at", models.BigIntegerField(help_text="Microseconds since 1970, UTC.")),
                ("page", models.PositiveIntegerField(help_text="The page's number.")),
                (
                    "client_class",
                    models.CharField(
                        choices=[
                            ("human", "Person"), ("ai_user", "AI assistant for a person"), ("ai_agent", "AI agent"),
                            ("ai_search", "AI search crawler"), ("ai_training", "AI training crawler"),
                            ("search_crawler", "Search engine"), ("other_bot", "Other bot"),
                            ("http_client", "HTTP client"),
                        ],
                        max_length=14,
                        verbose_name="class",
                    ),
                ),
                ("markdown", models.BooleanField(default=False, help_text="A Markdown fetch by a client that is no known crawler.")),
                ("visitor", models.BigIntegerField(help_text="Keyed hash, 64 bits.")),
                ("agent", models.CharField(blank=True, max_length=80)),
                ("operator", models.CharField(blank=True, max_length=80)),
                ("rule", models.CharField(help_text="What decided the class.", max_length=80)),
                ("rules_version", models.PositiveSmallIntegerField()),
                ("referrer", models.CharField(blank=True, help_text="Origin only.", max_length=200)),
                ("user_agent", models.CharField(blank=True, max_length=512)),
                ("sample", models.BooleanField(default=False, help_text="Made up for the demo.")),
                ("project", models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name="views", to="projects.project")),
            ],
            options={
                "indexes": [models.Index(fields=["project", "at"], name="analytics_p_project_66b481_idx")],
                "constraints": [models.UniqueConstraint(fields=("project", "key"), name="a_view_counts_once")],
            },
        ),
        migrations.RunPython(carry_over, migrations.RunPython.noop),
        migrations.RunPython(one_shard, migrations.RunPython.noop),
        migrations.DeleteModel("OldPageView"),
        migrations.DeleteModel("Snapshot"),
        migrations.CreateModel(
            name="Snapshot",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("dates", models.CharField(help_text="Report and dates as the caller gave them.", max_length=200)),
                ("taken_at", models.DateTimeField()),
                ("counts", models.BinaryField(help_text="Packed: see `analytics.reports.visitor_counts.Counts`.")),
                ("key", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, to="projects.apikey")),
                ("project", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, to="projects.project")),
            ],
            options={
                "constraints": [models.UniqueConstraint(fields=("key", "project", "dates"), name="one_snapshot_an_export")],
            },
        ),
    ]

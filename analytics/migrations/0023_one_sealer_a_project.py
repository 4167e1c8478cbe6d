"""One seal a project, in place of one for each shard of its visitors. Views counted in shard 0 alone stay counted."""

import django.db.models.deletion
from django.db import migrations, models

_FACTS = "project_id, sealed_to, closed, swept_at, token, leased_until"
_BUCKET = ("project", "span", "start")


def _merge(model, constraint):
    shard = models.PositiveSmallIntegerField(default=0)  # for the way back
    return [
        migrations.RemoveConstraint(model, constraint),
        migrations.AlterField(model, "shard", shard),
        migrations.RemoveField(model, "shard"),
        migrations.AddConstraint(model, models.UniqueConstraint(fields=_BUCKET, name=constraint)),
    ]


class Migration(migrations.Migration):
    dependencies = [
        ("analytics", "0022_no_archive"),
        ("contenttypes", "0002_remove_content_type_name"),  # renames the type with the model
        ("projects", "0012_log_in_rules"),
    ]

    operations = [
        migrations.AlterField("Seal", "swept_at", models.DateTimeField()),  # the new table needs the name of the index
        migrations.RenameModel("Seal", "SealOfShard"),
        migrations.AlterModelTable("SealOfShard", "analytics_sealofshard"),
        migrations.CreateModel(
            name="Seal",
            fields=[
                (
                    "project",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        primary_key=True,
                        related_name="+",
                        serialize=False,
                        to="projects.project",
                    ),
                ),
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
        migrations.RunSQL(
            f"INSERT INTO analytics_projectseal ({_FACTS}) SELECT {_FACTS} FROM analytics_sealofshard WHERE shard = 0",
            f"INSERT INTO analytics_sealofshard (shard, {_FACTS}) SELECT 0, {_FACTS} FROM analytics_projectseal",
        ),
        migrations.DeleteModel("SealOfShard"),
        migrations.RunSQL("", "INSERT INTO analytics_sharding (number) VALUES (1)"),
        migrations.DeleteModel("Sharding"),
        *_merge("Cells", "one_bucket_of_cells"),
        *_merge("AudienceCells", "one_bucket_of_audience_cells"),
    ]

"""Segments of postings, in place of the terms in FTS5 and in a GIN index. `migrate` then indexes every page again.

The old tables stay until then, for processes of the older release (`search.apps`).
"""

import django.db.models.deletion
from django.db import migrations, models


ENTRIES = """
CREATE TABLE IF NOT EXISTS search_entries (
    section_id bigint PRIMARY KEY, document_id bigint NOT NULL, position int NOT NULL,
    title text NOT NULL, heading text NOT NULL, trail text NOT NULL, about text NOT NULL, body text NOT NULL,
    facets text NOT NULL, path text NOT NULL, names text NOT NULL, language text NOT NULL, version text NOT NULL,
    boost double precision NOT NULL, terms tsvector NOT NULL
) WITH (toast_tuple_target = 8160);
ALTER TABLE search_entries ALTER COLUMN terms SET STORAGE MAIN;
CREATE INDEX IF NOT EXISTS search_entries_document ON search_entries (document_id);
CREATE INDEX IF NOT EXISTS search_entries_terms ON search_entries USING gin (terms) WITH (fastupdate = off);
"""


def index_again(apps, schema_editor):
    """Have the older release index every page again, after going back to it."""
    if schema_editor.connection.vendor == "postgresql":
        schema_editor.execute(ENTRIES)
    apps.get_model("search", "Index").objects.update(analyser="")


class Migration(migrations.Migration):

    dependencies = [
        ("projects", "0004_settings_of_apps"),
        ("search", "0018_page_groups"),
    ]

    operations = [
        migrations.AddField(
            model_name="index",
            name="segments",
            field=models.BinaryField(help_text="The segments of its postings, as `search.postings.storage` lists them.", null=True),
        ),
        migrations.CreateModel(
            name="SegmentPart",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("segment", models.CharField(help_text="The name of the segment, unique for ever.", max_length=16)),
                ("number", models.PositiveIntegerField(help_text="Its place among the parts of the segment.")),
                ("data", models.BinaryField()),
                ("project", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="segment_parts", to="projects.project")),
            ],
        ),
        migrations.AddConstraint(
            model_name="segmentpart",
            constraint=models.UniqueConstraint(fields=("project", "segment", "number"), name="one_segment_part_a_number"),
        ),
        migrations.RunPython(migrations.RunPython.noop, index_again),
    ]

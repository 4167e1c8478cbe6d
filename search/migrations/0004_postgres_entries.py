"""The table of PostgreSQL's engine. SQLite's makes its own, one for each project."""

from django.db import migrations

TABLE = """
DROP TABLE IF EXISTS search_entries;
CREATE TABLE search_entries (
    section_id bigint PRIMARY KEY, document_id bigint NOT NULL, position int NOT NULL,
    title text NOT NULL, heading text NOT NULL, trail text NOT NULL, about text NOT NULL, body text NOT NULL,
    facets text NOT NULL, path text NOT NULL, names text NOT NULL, language text NOT NULL, version text NOT NULL,
    boost double precision NOT NULL, terms tsvector NOT NULL
) WITH (toast_tuple_target = 8160);
ALTER TABLE search_entries ALTER COLUMN terms SET STORAGE MAIN;
CREATE INDEX search_entries_document ON search_entries (document_id);
CREATE INDEX search_entries_terms ON search_entries USING gin (terms) WITH (fastupdate = off);
CREATE INDEX search_document_hidden ON search_document (project_id) WHERE build <> '';
"""


def create(apps, schema_editor):
    if schema_editor.connection.vendor == "postgresql":
        schema_editor.execute(TABLE)
        apps.get_model("search", "Index").objects.update(analyser="")  # every page is then indexed again


class Migration(migrations.Migration):

    dependencies = [("search", "0003_generations")]

    operations = [migrations.RunPython(create, migrations.RunPython.noop)]

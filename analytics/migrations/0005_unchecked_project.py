"""Views no longer have a foreign key to their project on PostgreSQL, which took half the time to store them."""

import django.db.models.deletion
from django.db import migrations, models


def drop_foreign_key(apps, schema_editor):
    """Drop it. On SQLite it stays: the table would have to be written anew, and the check costs little."""
    if schema_editor.connection.vendor != "postgresql":
        return
    with schema_editor.connection.cursor() as cursor:
        cursor.execute(
            "SELECT conname FROM pg_constraint WHERE conrelid = 'analytics_pageview'::regclass AND contype = 'f'"
        )
        constraints = cursor.fetchall()
        if constraints:  # whoever stores a view locks these tables in this order; in another one, both would wait
            cursor.execute("LOCK TABLE projects_project, analytics_pageview IN ACCESS EXCLUSIVE MODE")
        for (name,) in constraints:
            cursor.execute(f'ALTER TABLE analytics_pageview DROP CONSTRAINT "{name}"')


class Migration(migrations.Migration):
    dependencies = [("analytics", "0004_signed_agents")]

    operations = [
        migrations.SeparateDatabaseAndState(
            database_operations=[migrations.RunPython(drop_foreign_key, migrations.RunPython.noop)],
            state_operations=[
                migrations.AlterField(
                    model_name="pageview",
                    name="project",
                    field=models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="views",
                        to="projects.project",
                    ),
                )
            ],
        )
    ]

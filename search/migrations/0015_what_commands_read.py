# A migration of its own: PostgreSQL changes no table in a transaction that has changed its rows.

from django.db import migrations, models


def list_what_commands_read(apps, schema_editor):
    """Give each project with pages from a source without a name the row that lists it. Its location is not known."""
    Document, Source = apps.get_model("search", "Document"), apps.get_model("search", "Source")
    pages = Document._base_manager.filter(source=None, build="").order_by()
    for row in pages.values("project").annotate(read_at=models.Max("ingested_at")):
        facts = {"by_command": True, "state": "done", "read_at": row["read_at"], "finished_at": row["read_at"]}
        Source.objects.get_or_create(project_id=row["project"], name="", defaults=facts)  # a command may have been faster


def forget_what_commands_read(apps, schema_editor):
    apps.get_model("search", "Source").objects.filter(by_command=True).delete()


class Migration(migrations.Migration):

    dependencies = [
        ('search', '0014_setup'),
    ]

    operations = [
        migrations.RunPython(list_what_commands_read, forget_what_commands_read),
    ]

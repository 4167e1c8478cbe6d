"""An index of the views of a project by id, built on PostgreSQL while views are stored."""

from django.db import migrations, models


class AddIndexWhileWriting(migrations.AddIndex):
    """Adds an index. On PostgreSQL, without holding up those who write; an index of which the end failed is replaced."""

    def database_forwards(self, app_label, schema_editor, from_state, to_state):
        if schema_editor.connection.vendor != "postgresql":
            super().database_forwards(app_label, schema_editor, from_state, to_state)
            return
        model = to_state.apps.get_model(app_label, self.model_name)
        schema_editor.execute(f"DROP INDEX CONCURRENTLY IF EXISTS {self.index.name}")
        schema_editor.add_index(model, self.index, concurrently=True)


class Migration(migrations.Migration):
    atomic = False

    dependencies = [("analytics", "0015_annotations_and_share_links")]

    operations = [
        AddIndexWhileWriting("pageview", models.Index(fields=["project", "id"], name="views_in_order")),
    ]

"""SQLite refuses to replace entries of the audit, too: `INSERT OR REPLACE` runs no trigger of deletions."""

from django.db import migrations

TABLE = "privacy_auditentry"


def protect(apps, schema_editor):
    if schema_editor.connection.vendor == "sqlite":
        schema_editor.execute(
            f"CREATE TRIGGER audit_no_replacement BEFORE INSERT ON {TABLE} "
            f"WHEN EXISTS (SELECT 1 FROM {TABLE} WHERE id = NEW.id) "
            "BEGIN SELECT RAISE(ABORT, 'The audit is append-only.'); END"
        )


def unprotect(apps, schema_editor):
    if schema_editor.connection.vendor == "sqlite":
        schema_editor.execute("DROP TRIGGER audit_no_replacement")


class Migration(migrations.Migration):
    dependencies = [("privacy", "0002_append_only")]

    operations = [migrations.RunPython(protect, unprotect)]

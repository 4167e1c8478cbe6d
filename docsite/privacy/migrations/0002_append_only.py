"""The database itself refuses to change and to delete entries of the audit."""

from django.db import migrations

TABLE = "privacy_auditentry"
REFUSAL = "SELECT RAISE(ABORT, 'The audit is append-only.')"


def protect(apps, schema_editor):
    if schema_editor.connection.vendor == "postgresql":
        schema_editor.execute(
            "CREATE OR REPLACE FUNCTION refuse_audit_change() RETURNS trigger LANGUAGE plpgsql AS "
            "$$ BEGIN RAISE EXCEPTION 'The audit is append-only.'; END $$"
        )
        schema_editor.execute(
            f"CREATE TRIGGER audit_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON {TABLE} "
            "FOR EACH STATEMENT EXECUTE FUNCTION refuse_audit_change()"
        )
        return
    for event in ("UPDATE", "DELETE"):
        schema_editor.execute(f"CREATE TRIGGER audit_no_{event.lower()} BEFORE {event} ON {TABLE} BEGIN {REFUSAL}; END")
    schema_editor.execute(  # `INSERT OR REPLACE` runs no trigger of deletions
        f"CREATE TRIGGER audit_no_replacement BEFORE INSERT ON {TABLE} "
        f"WHEN EXISTS (SELECT 1 FROM {TABLE} WHERE id = NEW.id) BEGIN {REFUSAL}; END"
    )


class Migration(migrations.Migration):
    dependencies = [("privacy", "0001_tables")]

    operations = [migrations.RunPython(protect, migrations.RunPython.noop)]

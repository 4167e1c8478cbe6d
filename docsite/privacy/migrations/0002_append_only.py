"""The database itself refuses to change and to delete entries of the audit."""

from django.db import migrations

TABLE = "privacy_auditentry"


def protect(apps, schema_editor):
    if schema_editor.connection.vendor == "postgresql":
        schema_editor.execute(
            "CREATE FUNCTION refuse_audit_change() RETURNS trigger LANGUAGE plpgsql AS "
            "$$ BEGIN RAISE EXCEPTION 'The audit is append-only.'; END $$"
        )
        schema_editor.execute(
            f"CREATE TRIGGER audit_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON {TABLE} "
            "FOR EACH STATEMENT EXECUTE FUNCTION refuse_audit_change()"
        )
    else:
        for event in ("UPDATE", "DELETE"):
            schema_editor.execute(
                f"CREATE TRIGGER audit_no_{event.lower()} BEFORE {event} ON {TABLE} "
                "BEGIN SELECT RAISE(ABORT, 'The audit is append-only.'); END"
            )


def unprotect(apps, schema_editor):
    if schema_editor.connection.vendor == "postgresql":
        schema_editor.execute(f"DROP TRIGGER audit_append_only ON {TABLE}")
        schema_editor.execute("DROP FUNCTION refuse_audit_change()")
    else:
        for event in ("update", "delete"):
            schema_editor.execute(f"DROP TRIGGER audit_no_{event}")


class Migration(migrations.Migration):
    dependencies = [("privacy", "0001_audit")]

    operations = [migrations.RunPython(protect, unprotect)]

"""On PostgreSQL, partition the raw views by ranges of ids: see `analytics.counting.partitions`.

The table becomes the first partition as it is. That all its ids are in the range is checked before, while others read
and store views; then the tables change places in a moment. After a crash the migration can run again. Going back copies
the rows into an ordinary table.
"""

from django.db import migrations

from docsite.core.postgresql.foreign_keys import run_with_short_locks

TABLE, FIRST, DEFAULT, PLAIN = (f"analytics_pageview{end}" for end in ("", "_0", "_rest", "_plain"))
IDS = 2_000_000  # of a partition
SEQUENCE = f"pg_get_serial_sequence('{TABLE}', 'id')"
LOCK = f"LOCK TABLE {TABLE} IN ACCESS EXCLUSIVE MODE"
CHECK = "views_of_first_partition"
REFUSAL = (
    f"Views of the database depend on the table {TABLE}: {{}}. Drop them, run `migrate`, and make them again: they "
    "would go on with a part of the rows."
)


def partition(apps, schema_editor):
    """Let the table be the first partition of a new one with its name."""
    if schema_editor.connection.vendor != "postgresql":
        return
    with schema_editor.connection.cursor() as cursor:
        if _is_partitioned(cursor):  # before a crash
            return
        _refuse_views(cursor)
        end = max(IDS, _last_id(cursor) + IDS) + 1
        run_with_short_locks(
            schema_editor,
            f"ALTER TABLE {TABLE} DROP CONSTRAINT IF EXISTS {CHECK}",
            f"ALTER TABLE {TABLE} ADD CONSTRAINT {CHECK} CHECK (id < {end}) NOT VALID",
        )
        run_with_short_locks(schema_editor, f"ALTER TABLE {TABLE} VALIDATE CONSTRAINT {CHECK}")
        constraints, indexes, grants = _describe(cursor)
    names = [name for name, kind, _ in constraints if kind == "p"] + [name for name, _ in indexes]
    run_with_short_locks(
        schema_editor,
        LOCK,
        *_keep_last_id(),
        f"ALTER TABLE {TABLE} ALTER id DROP IDENTITY",
        *(f'ALTER INDEX "{name}" RENAME TO "{name[:60]}_0"' for name in names),
        f"ALTER TABLE {TABLE} RENAME TO {FIRST}",
        f"CREATE TABLE {TABLE} (LIKE {FIRST} INCLUDING DEFAULTS) PARTITION BY RANGE (id)",
        *_build(constraints, indexes, grants),
        f"ALTER TABLE {TABLE} ATTACH PARTITION {FIRST} FOR VALUES FROM (MINVALUE) TO ({end})",
        f"ALTER TABLE {FIRST} DROP CONSTRAINT {CHECK}",
        f"CREATE TABLE {TABLE}_{end} PARTITION OF {TABLE} FOR VALUES FROM ({end}) TO ({end + IDS})",
        f"CREATE TABLE {DEFAULT} PARTITION OF {TABLE} DEFAULT",
    )


def join(apps, schema_editor):
    """Copy the rows of all partitions into one table."""
    if schema_editor.connection.vendor != "postgresql":
        return
    with schema_editor.connection.cursor() as cursor:
        if not _is_partitioned(cursor):
            return
        _refuse_views(cursor)
        parts = _describe(cursor)
    run_with_short_locks(
        schema_editor,
        LOCK,
        *_keep_last_id(),
        f"CREATE TABLE {PLAIN} (LIKE {TABLE} INCLUDING DEFAULTS)",
        f"INSERT INTO {PLAIN} SELECT * FROM {TABLE}",
        f"DROP TABLE {TABLE}",
        f"ALTER TABLE {PLAIN} RENAME TO {TABLE}",
        *_build(*parts),
    )


def _is_partitioned(cursor):
    cursor.execute("SELECT relkind = 'p' FROM pg_class WHERE oid = %s::regclass", [TABLE])
    return cursor.fetchone()[0]


def _refuse_views(cursor):
    """Raise RuntimeError if views that others made read the table: they would follow it to its new name."""
    cursor.execute(
        "SELECT DISTINCT ev_class::regclass::text FROM pg_rewrite JOIN pg_depend ON objid = pg_rewrite.oid "
        "WHERE classid = 'pg_rewrite'::regclass AND refobjid = %s::regclass",
        [TABLE],
    )
    if found := sorted(name for (name,) in cursor.fetchall()):
        raise RuntimeError(REFUSAL.format(", ".join(found)))


def _last_id(cursor):
    """The last id that was given, 0 if none was."""
    cursor.execute(f"SELECT {SEQUENCE}")
    (sequence,) = cursor.fetchone()
    cursor.execute(f"SELECT CASE WHEN is_called THEN last_value ELSE 0 END FROM {sequence}")
    return cursor.fetchone()[0]


def _keep_last_id():
    """Statements that note the last id until the end of the transaction: `_build` goes on from there."""
    return (
        "CREATE TEMPORARY TABLE last_view (id bigint) ON COMMIT DROP",
        f"INSERT INTO last_view SELECT nextval({SEQUENCE})",  # not used for a view
    )


def _describe(cursor):
    """Its constraints (name, kind, definition), its other indexes (name, definition), and statements of its grants."""
    cursor.execute(
        "SELECT conname, contype, pg_get_constraintdef(oid) FROM pg_constraint WHERE conrelid = %s::regclass "
        "AND contype IN ('p', 'f', 'c') AND conname <> %s ORDER BY contype DESC",
        [TABLE, CHECK],
    )
    constraints = cursor.fetchall()
    cursor.execute(
        "SELECT relname, pg_get_indexdef(indexrelid) FROM pg_index JOIN pg_class ON pg_class.oid = indexrelid "
        "WHERE indrelid = %s::regclass AND NOT indisprimary",
        [TABLE],
    )
    indexes = [(name, definition.replace(" ON ONLY ", " ON ")) for name, definition in cursor.fetchall()]
    cursor.execute(
        "SELECT format('GRANT %%s ON %%s TO %%s', privilege_type, "
        f"CASE relkind WHEN 'S' THEN 'SEQUENCE ' || {SEQUENCE} ELSE '{TABLE}' END, "
        "CASE grantee WHEN 0 THEN 'PUBLIC' ELSE quote_ident(pg_get_userbyid(grantee)) END) "
        f"FROM pg_class, aclexplode(relacl) WHERE pg_class.oid IN (%s::regclass, {SEQUENCE}::regclass) "
        "AND grantee <> relowner",
        [TABLE],
    )
    return constraints, indexes, [statement for (statement,) in cursor.fetchall()]


def _build(constraints, indexes, grants):
    """Statements that give the table its constraints, indexes, ids and grants."""
    return (
        *(f'ALTER TABLE {TABLE} ADD CONSTRAINT "{name}" {definition}' for name, _, definition in constraints),
        *(definition for _, definition in indexes),
        f"ALTER TABLE {TABLE} ALTER id ADD GENERATED BY DEFAULT AS IDENTITY",
        f"SELECT setval({SEQUENCE}, (SELECT id FROM last_view))",
        *grants,
    )


class Migration(migrations.Migration):
    atomic = False  # each step by itself

    dependencies = [("analytics", "0019_view_keys")]

    operations = [migrations.RunPython(partition, join)]

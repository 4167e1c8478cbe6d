"""Chain the entries of the audit. The triggers that protect them are gone only within this transaction."""

from importlib import import_module

from django.db import migrations, models

from docsite.privacy.chain import START, compute_digest

_append_only = import_module("docsite.privacy.migrations.0002_append_only")
_no_replacement = import_module("docsite.privacy.migrations.0003_no_replacement")


def protect(apps, schema_editor):
    _append_only.protect(apps, schema_editor)
    _no_replacement.protect(apps, schema_editor)


def unprotect(apps, schema_editor):
    _no_replacement.unprotect(apps, schema_editor)
    _append_only.unprotect(apps, schema_editor)


def chain_entries(apps, schema_editor):
    """Append the existing entries to their chains, in their order."""
    entries = apps.get_model("privacy", "AuditEntry").objects
    heads = {}
    for number in list(entries.order_by("pk").values_list("pk", flat=True)):
        entry = entries.get(pk=number)
        chain = entry.organization_id or 0
        position, digest = heads.get(chain, (0, START))
        entry.position = position + 1
        entry.digest = compute_digest(digest, entry)
        entries.filter(pk=entry.pk).update(position=entry.position, digest=entry.digest)
        heads[chain] = entry.position, entry.digest
    head = apps.get_model("privacy", "AuditHead")
    head.objects.bulk_create(
        head(chain=chain, position=position, digest=digest) for chain, (position, digest) in heads.items()
    )


class Migration(migrations.Migration):

    dependencies = [
        ('privacy', '0003_no_replacement'),
    ]

    operations = [
        migrations.RunPython(unprotect, protect),
        migrations.CreateModel(
            name='AuditHead',
            fields=[
                ('chain', models.BigIntegerField(help_text='The organization. 0: entries of no organization.', primary_key=True, serialize=False)),
                ('position', models.BigIntegerField(default=0)),
                ('digest', models.CharField(max_length=64)),
            ],
        ),
        migrations.AddField(
            model_name='auditentry',
            name='before',
            field=models.JSONField(db_default={}, default=dict, help_text='The values before the change.'),
        ),
        migrations.AddField(
            model_name='auditentry',
            name='digest',
            field=models.CharField(blank=True, db_default='', default='', editable=False, max_length=64),
        ),
        migrations.AddField(
            model_name='auditentry',
            name='network',
            field=models.CharField(blank=True, db_default='', default='', help_text='Where the actor was. Empty: on this machine.', max_length=64),
        ),
        migrations.AddField(
            model_name='auditentry',
            name='position',
            field=models.BigIntegerField(editable=False, help_text='In the chain of the organization.', null=True),
        ),
        migrations.AlterField(
            model_name='auditentry',
            name='details',
            field=models.JSONField(default=dict, help_text='The new values, or what was done.'),
        ),
        migrations.AddConstraint(
            model_name='auditentry',
            constraint=models.UniqueConstraint(fields=('organization_id', 'position'), name='one_audit_position'),
        ),
        migrations.RunPython(chain_entries, migrations.RunPython.noop),
        migrations.RunPython(protect, unprotect),
    ]

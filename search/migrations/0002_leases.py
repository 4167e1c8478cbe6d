from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('search', '0001_tables'),
    ]

    operations = [
        migrations.RenameField('source', 'wanted_at', 'due_at'),
        *(
            operation
            for model in ('source', 'vectorindex')
            for operation in (
                migrations.RenameField(model, 'runner', 'holder'),
                migrations.AlterField(model, 'holder', models.CharField(blank=True, db_default='', default='', editable=False, help_text='Id of the claim that holds it. A process with another id has lost it.', max_length=16)),
                migrations.RenameField(model, 'seen_at', 'leased_until'),
                migrations.AlterField(model, 'leased_until', models.DateTimeField(editable=False, help_text='From when on others may claim it. Empty: nobody holds it.', null=True)),
            )
        ),
    ]

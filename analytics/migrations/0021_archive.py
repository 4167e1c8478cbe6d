import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('analytics', '0020_view_partitions'),
        ('projects', '0012_log_in_rules'),
    ]

    operations = [
        migrations.CreateModel(
            name='ArchiveChange',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('kind', models.CharField(choices=[('views', 'Views'), ('questions', 'Questions')], max_length=9)),
                ('value', models.CharField(blank=True, help_text="The visitor's hash, or the id of the conversation. Empty: all rows.", max_length=40)),
                ('project', models.ForeignKey(db_constraint=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='projects.project')),
            ],
        ),
        migrations.CreateModel(
            name='ArchiveFolder',
            fields=[
                ('id', models.PositiveSmallIntegerField(default=1, editable=False, primary_key=True, serialize=False)),
                ('mark', models.CharField(help_text='What the file .archive in the folder says.', max_length=32)),
                ('marked_at', models.DateTimeField(help_text='When that file was complete. Empty: it may be missing.', null=True)),
            ],
        ),
        migrations.CreateModel(
            name='ArchivedRange',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('kind', models.CharField(choices=[('views', 'Views'), ('questions', 'Questions')], max_length=9)),
                ('first', models.BigIntegerField(help_text='The range begins with this id, whether or not a row has it.')),
                ('last', models.BigIntegerField(help_text='The id of its last row.')),
                ('arrived_at', models.DateTimeField(help_text='When its last row was stored.')),
                ('written_at', models.DateTimeField(help_text='When its file was complete. Empty: it is not.', null=True)),
                ('project', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='projects.project')),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('project', 'kind', 'first'), name='one_file_a_range')],
            },
        ),
    ]

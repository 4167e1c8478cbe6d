import django.db.models.deletion
import django.utils.timezone
from django.db import migrations, models

from docsite.core.tenants.migrations._tables import CreateTables


class Migration(migrations.Migration):

    initial = True

    dependencies = [
        ('projects', '0003_time_zone'),
    ]

    operations = [CreateTables([
        migrations.CreateModel(
            name='Progress',
            fields=[
                ('holder', models.CharField(blank=True, db_default='', default='', editable=False, help_text='Id of the claim that holds it. A process with another id has lost it.', max_length=16)),
                ('leased_until', models.DateTimeField(editable=False, help_text='From when on others may claim it. Empty: nobody holds it.', null=True)),
                ('project', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='+', serialize=False, to='projects.project')),
                ('generation', models.PositiveIntegerField(help_text='Empty: none yet.', null=True)),
            ],
            options={
                'abstract': False,
            },
        ),
        migrations.CreateModel(
            name='Fingerprint',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('path', models.CharField(max_length=400)),
                ('address', models.CharField(blank=True, help_text='As of the page.', max_length=2000)),
                ('title', models.CharField(max_length=500)),
                ('digest', models.CharField(help_text='Of the page from which it was made.', max_length=64)),
                ('sketch', models.BinaryField(help_text='As `fingerprints.sketch` makes it of the text.')),
                ('since', models.PositiveIntegerField(help_text='The first generation of the index that has the page.')),
                ('project', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='projects.project')),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('project', 'path'), name='one_fingerprint_a_page')],
            },
        ),
        migrations.CreateModel(
            name='MissingPage',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('path', models.CharField(max_length=400)),
                ('kind', models.CharField(choices=[('moved', 'A page was there'), ('broken', 'A link or a reader is wrong'), ('invented', 'Only agents ask for it')], max_length=8)),
                ('address', models.CharField(blank=True, help_text='Of the page that was there.', max_length=2000)),
                ('title', models.CharField(blank=True, max_length=500)),
                ('sketch', models.BinaryField(default=b'')),
                ('gone', models.PositiveIntegerField(help_text='The first generation of the index without the page.', null=True)),
                ('people', models.PositiveBigIntegerField(default=0)),
                ('agents', models.PositiveBigIntegerField(default=0)),
                ('crawlers', models.PositiveBigIntegerField(default=0, help_text='Requests of search engines.')),
                ('agent', models.CharField(blank=True, help_text='The last AI client that asked for it.', max_length=80)),
                ('linked_from', models.CharField(blank=True, help_text='A page of the site, or the origin of another.', max_length=400)),
                ('last_at', models.DateTimeField(default=django.utils.timezone.now, help_text='Of the last request, or when the page went.')),
                ('nearest', models.CharField(blank=True, max_length=400)),
                ('confidence', models.FloatField(default=0.0, help_text='That the nearest page took its place, 0 to 1.')),
                ('generation', models.PositiveIntegerField(help_text='In which it was found. Empty: to be looked for.', null=True)),
                ('project', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='projects.project')),
            ],
            options={
                'indexes': [models.Index(condition=models.Q(('generation', None)), fields=['project'], name='missing_pages_to_look_up')],
                'constraints': [models.UniqueConstraint(fields=('project', 'path'), name='one_row_a_missing_page')],
            },
        ),
    ])]

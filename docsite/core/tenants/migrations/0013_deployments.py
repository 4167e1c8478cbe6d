"""Other deployments with databases of their own, and where each organization lives."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('projects', '0012_log_in_rules'),
    ]

    operations = [
        migrations.CreateModel(
            name='Deployment',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('name', models.SlugField(max_length=40, unique=True)),
                ('address', models.CharField(blank=True, help_text='For nginx, such as 10.0.0.12:8000.', max_length=255)),
                ('id_range', models.PositiveIntegerField(unique=True)),
                ('is_here', models.BooleanField(default=False, help_text='Of this database.')),
            ],
            options={
                'ordering': ['name'],
            },
        ),
        migrations.CreateModel(
            name='MoveProgress',
            fields=[
                ('name', models.CharField(max_length=100, primary_key=True, serialize=False)),
                ('value', models.JSONField()),
            ],
        ),
        migrations.AddField(
            model_name='organization',
            name='move_state',
            field=models.CharField(blank=True, choices=[('settling', 'Settling: requests that write are refused, and what runs may end'), ('fenced', 'Fenced: nothing is written')], db_default='', default='', editable=False, max_length=8),
        ),
        migrations.AddField(
            model_name='organization',
            name='deployment',
            field=models.ForeignKey(editable=False, help_text='Where it lives. Empty: here.', null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='projects.deployment'),
        ),
    ]

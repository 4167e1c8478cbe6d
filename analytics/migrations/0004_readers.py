"""In which form a page was read, whether an agent was verified, what agents read by the hour, secrets of periods,
and logs that were imported."""

import django.db.models.deletion
from django.db import migrations, models


def surfaces(apps, schema_editor):
    """What was a Markdown fetch."""
    apps.get_model("analytics", "PageView").objects.filter(markdown=True).update(surface="md")


def count_agents(apps, schema_editor):
    """The hours of the views that are sealed and still there."""
    with schema_editor.connection.cursor() as cursor:
        for span in (1, 24):
            start = f"at / 3600000000 / {span} * {span}"
            cursor.execute(
                f"""
                INSERT INTO analytics_agentviews
                    (project_id, span, start, client_class, agent, rule, surface, verified, operator, views, last_at)
                SELECT project_id, {span}, {start}, client_class, agent, rule, surface, '', MAX(operator), COUNT(*), MAX(at)
                FROM analytics_pageview AS seen JOIN analytics_seal AS seal ON seen.id <= seal.sealed_to
                    AND seal.shard = (seen.visitor & ((SELECT COUNT(*) FROM analytics_seal) - 1))
                WHERE NOT (client_class = 'human' AND surface = 'html')
                GROUP BY project_id, {start}, client_class, agent, rule, surface
                """
            )


class Migration(migrations.Migration):

    dependencies = [
        ('analytics', '0003_received'),
        ('projects', '0002_readers'),
    ]

    operations = [
        migrations.CreateModel(
            name='AgentAddresses',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('agent', models.CharField(help_text="The agent's name, as the rules spell it.", max_length=80, unique=True)),
                ('networks', models.JSONField(help_text='CIDR ranges.')),
                ('source', models.CharField(help_text='File or address that they were read from.', max_length=400)),
                ('read_at', models.DateTimeField(auto_now=True)),
            ],
            options={
                'verbose_name_plural': 'agent addresses',
                'ordering': ['agent'],
            },
        ),
        migrations.AddField(
            model_name='pageview',
            name='surface',
            field=models.CharField(choices=[('html', 'HTML'), ('md', 'Markdown'), ('llms', 'llms.txt')], default='html', max_length=4),
        ),
        migrations.RunPython(surfaces, migrations.RunPython.noop),
        migrations.RemoveField(
            model_name='pageview',
            name='markdown',
        ),
        migrations.AddField(
            model_name='pageview',
            name='verified',
            field=models.CharField(blank=True, choices=[('', 'not checked'), ('yes', 'verified'), ('no', 'claimed only')], max_length=3),
        ),
        migrations.CreateModel(
            name='AgentViews',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('span', models.PositiveSmallIntegerField(help_text='Hours: 1 or 24.')),
                ('start', models.PositiveIntegerField(help_text='Hours since 1970, UTC.')),
                ('client_class', models.CharField(choices=[('human', 'Person'), ('ai_user', 'AI assistant for a person'), ('ai_agent', 'AI agent'), ('ai_search', 'AI search crawler'), ('ai_training', 'AI training crawler'), ('search_crawler', 'Search engine'), ('other_bot', 'Other bot'), ('http_client', 'HTTP client')], max_length=14)),
                ('agent', models.CharField(blank=True, max_length=80)),
                ('rule', models.CharField(max_length=80)),
                ('surface', models.CharField(choices=[('html', 'HTML'), ('md', 'Markdown'), ('llms', 'llms.txt')], max_length=4)),
                ('verified', models.CharField(blank=True, choices=[('', 'not checked'), ('yes', 'verified'), ('no', 'claimed only')], max_length=3)),
                ('operator', models.CharField(blank=True, max_length=80)),
                ('views', models.BigIntegerField()),
                ('last_at', models.BigIntegerField(help_text='Microseconds since 1970, UTC.')),
                ('project', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, to='projects.project')),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('project', 'span', 'start', 'client_class', 'agent', 'rule', 'surface', 'verified'), name='one_row_an_agent_and_bucket')],
            },
        ),
        migrations.CreateModel(
            name='LogImport',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('first_line', models.CharField(help_text="Keyed hash of time, path and status of its first line: what tells logs apart.", max_length=64)),
                ('offset', models.BigIntegerField(default=0, help_text='Bytes of the unpacked log that are imported.')),
                ('last_line', models.CharField(blank=True, help_text='The same of the line that ends there.', max_length=64)),
                ('updated_at', models.DateTimeField(auto_now=True)),
                ('project', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, to='projects.project')),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('project', 'first_line'), name='one_import_a_log')],
            },
        ),
        migrations.CreateModel(
            name='VisitorSecret',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('period', models.CharField(max_length=12)),
                ('secret', models.CharField(max_length=64)),
                ('expires_at', models.DateTimeField()),
                ('project', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, to='projects.project')),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('project', 'period'), name='one_visitor_secret_a_period')],
            },
        ),
        migrations.RunPython(count_agents, migrations.RunPython.noop),
    ]

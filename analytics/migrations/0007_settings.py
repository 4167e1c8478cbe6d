import secrets

import analytics.models
import django.db.models.deletion
from django.db import migrations, models

COPIED = ('ai_scope', 'secret_rotation', 'first_party_ids', 'visitor_secret')


def copy_from_projects(apps, schema_editor):
    AnalyticsSettings = apps.get_model('analytics', 'AnalyticsSettings')
    AnalyticsSettings.objects.bulk_create(
        [
            AnalyticsSettings(project_id=project.pk, **{name: getattr(project, name) for name in COPIED})
            for project in apps.get_model('projects', 'Project').objects.only(*COPIED)
        ],
        batch_size=500,
    )


def copy_to_projects(apps, schema_editor):
    rows = {row.pk: row for row in apps.get_model('analytics', 'AnalyticsSettings').objects.all()}
    for project in apps.get_model('projects', 'Project').objects.only('pk'):
        row = rows.get(project.pk)
        # The column came back with one secret for all projects.
        copied = {name: getattr(row, name) for name in COPIED} if row else {'visitor_secret': secrets.token_hex(32)}
        type(project).objects.filter(pk=project.pk).update(**copied)


class Migration(migrations.Migration):

    dependencies = [
        ('projects', '0003_support_links'),
        ('analytics', '0006_feedback_client_id'),
    ]

    run_before = [
        ('projects', '0004_settings_of_apps'),
    ]

    operations = [
        migrations.CreateModel(
            name='AnalyticsSettings',
            fields=[
                ('project', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='analytics_settings', serialize=False, to='projects.project')),
                ('ai_scope', models.CharField(choices=[('all', 'Assistants, agents, AI search and training crawlers, Markdown fetches'), ('readers', 'Assistants, agents and Markdown fetches only')], default='all', max_length=10)),
                ('secret_rotation', models.CharField(choices=[('never', 'Never: a visitor counts once over any range'), ('90d', 'Every 90 days'), ('month', 'Every month'), ('day', 'Every day: nobody is followed from one day to the next')], default='never', help_text='With each new secret every visitor counts as a new one.', max_length=5, verbose_name='visitor secret changes')),
                ('first_party_ids', models.BooleanField(default=False, help_text="Take the random id that the view script keeps in a reader's browser instead of address and user agent. It sets storage, for which you may need consent.", verbose_name='first-party visitor ids')),
                ('visitor_secret', models.CharField(default=analytics.models.new_visitor_secret, editable=False, max_length=64)),
            ],
            options={
                'verbose_name': 'analytics settings',
                'verbose_name_plural': 'analytics settings',
            },
        ),
        migrations.RunPython(copy_from_projects, copy_to_projects),
    ]

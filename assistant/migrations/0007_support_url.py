import assistant.models.settings
from django.db import migrations, models


def copy_from_projects(apps, schema_editor):
    settings = apps.get_model('assistant', 'AssistantSettings').objects
    for project in apps.get_model('projects', 'Project').objects.exclude(support_url='').only('support_url'):
        settings.update_or_create(project_id=project.pk, defaults={'support_url': project.support_url})


def copy_to_projects(apps, schema_editor):
    projects = apps.get_model('projects', 'Project').objects
    for row in apps.get_model('assistant', 'AssistantSettings').objects.exclude(support_url=''):
        projects.filter(pk=row.project_id).update(support_url=row.support_url)


class Migration(migrations.Migration):

    dependencies = [
        ('projects', '0003_support_links'),
        ('assistant', '0006_widget_settings_and_files'),
    ]

    run_before = [
        ('projects', '0004_settings_of_apps'),
    ]

    operations = [
        migrations.AddField(
            model_name='assistantsettings',
            name='support_url',
            field=models.CharField(blank=True, default='', help_text='Link or mail address offered when the documentation has no answer.', max_length=300, validators=[assistant.models.settings.validate_support_url]),
            preserve_default=False,
        ),
        migrations.RunPython(copy_from_projects, copy_to_projects),
    ]

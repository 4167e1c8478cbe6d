import django.db.models.deletion
from django.db import migrations, models


def copy_from_projects(apps, schema_editor):
    Generation = apps.get_model('search', 'Generation')
    indexed = apps.get_model('projects', 'Project').objects.exclude(index_generation=0, indexed_at=None)
    Generation.objects.bulk_create(
        [
            Generation(project_id=project.pk, number=project.index_generation, indexed_at=project.indexed_at)
            for project in indexed.only('index_generation', 'indexed_at')
        ],
        batch_size=500,
    )


def copy_to_projects(apps, schema_editor):
    projects = apps.get_model('projects', 'Project').objects
    for row in apps.get_model('search', 'Generation').objects.all():
        projects.filter(pk=row.pk).update(index_generation=row.number, indexed_at=row.indexed_at)


class Migration(migrations.Migration):

    dependencies = [
        ('projects', '0003_support_links'),
        ('search', '0005_sources'),
    ]

    run_before = [
        ('projects', '0004_settings_of_apps'),
    ]

    operations = [
        migrations.CreateModel(
            name='Generation',
            fields=[
                ('project', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='generation', serialize=False, to='projects.project')),
                ('number', models.PositiveIntegerField(default=0)),
                ('indexed_at', models.DateTimeField(null=True)),
            ],
            options={
                'verbose_name': 'index generation',
            },
        ),
        migrations.AlterModelOptions(name='index', options={'verbose_name_plural': 'indexes'}),
        migrations.RunPython(copy_from_projects, copy_to_projects),
    ]

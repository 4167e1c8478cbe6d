"""Organizations live in the database of their service alone."""

from django.db import migrations


class Migration(migrations.Migration):

    dependencies = [
        ('projects', '0013_deployments'),
    ]

    operations = [
        migrations.RemoveField(
            model_name='organization',
            name='deployment',
        ),
        migrations.RemoveField(
            model_name='organization',
            name='move_state',
        ),
        migrations.DeleteModel(
            name='Deployment',
        ),
        migrations.DeleteModel(
            name='MoveProgress',
        ),
    ]

from django.db import migrations, models

import docsite.core.http.dates


class Migration(migrations.Migration):
    dependencies = [("projects", "0002_invitations_that_were_not_sent")]

    operations = [
        migrations.AddField(
            model_name="project",
            name="time_zone",
            field=models.CharField(
                choices=docsite.core.http.dates.list_zones,
                db_default="UTC",
                default="UTC",
                help_text="Days and weeks of reports, files and e-mail begin at midnight of this zone.",
                max_length=64,
            ),
        ),
    ]

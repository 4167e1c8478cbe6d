from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("notifications", "0001_tables")]

    operations = [
        migrations.AddField("digest", "time_zone", models.CharField(db_default="UTC", default="UTC", max_length=64)),
        migrations.AlterField("digest", "week", models.DateField(help_text="The Monday after its seven days.")),
        migrations.AddConstraint(
            "digest", models.UniqueConstraint(fields=("week", "time_zone"), name="one_digest_a_week")
        ),
    ]

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("projects", "0001_tables")]

    operations = [
        migrations.AddField(
            model_name="invitation",
            name="mail_failure",
            field=models.CharField(
                blank=True,
                db_default="",
                default="",
                help_text="Why the link could not be sent by e-mail.",
                max_length=400,
            ),
        ),
    ]

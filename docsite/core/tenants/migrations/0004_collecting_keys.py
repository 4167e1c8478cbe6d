from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("projects", "0003_time_zone")]

    operations = [
        migrations.RemoveConstraint(model_name="apikey", name="assistant_keys_have_a_project"),
        migrations.AlterField(
            model_name="apikey",
            name="kind",
            field=models.CharField(
                choices=[
                    ("admin", "Admin: analytics of the organization. Secret, for servers only."),
                    ("assistant", "Assistant: questions and searches of one project. Public, for browsers."),
                    ("collecting", "Collecting: adds views of agents to one project. Secret, for an edge worker."),
                ],
                max_length=10,
            ),
        ),
        migrations.AddConstraint(
            model_name="apikey",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("kind", "admin"), ("project__isnull", True)),
                    models.Q(("kind__in", ["assistant", "collecting"]), ("project__isnull", False)),
                    _connector="OR",
                ),
                name="keys_of_a_project_name_it",
            ),
        ),
    ]

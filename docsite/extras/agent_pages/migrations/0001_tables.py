import django.db.models.deletion
from django.db import migrations, models

from docsite.core.tenants.migrations._tables import CreateTables


class Migration(migrations.Migration):
    initial = True

    dependencies = [("projects", "0001_tables")]

    operations = [
        CreateTables(
            [
                migrations.CreateModel(
                    name="AgentPagesSettings",
                    fields=[
                        (
                            "project",
                            models.OneToOneField(
                                on_delete=django.db.models.deletion.CASCADE,
                                primary_key=True,
                                related_name="agent_pages_settings",
                                serialize=False,
                                to="projects.project",
                            ),
                        ),
                        (
                            "agent_pages",
                            models.BooleanField(
                                db_default=True,
                                default=True,
                                help_text="Serve the public pages as Markdown, without a key, and as llms.txt, for "
                                "agents and for your site.",
                                verbose_name="Markdown for agents",
                            ),
                        ),
                    ],
                    options={
                        "verbose_name": "settings of Markdown for agents",
                        "verbose_name_plural": "settings of Markdown for agents",
                    },
                )
            ]
        )
    ]

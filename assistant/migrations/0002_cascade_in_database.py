from django.db import migrations

from docsite.core.postgresql.foreign_keys import CascadeInDatabase


class Migration(migrations.Migration):
    dependencies = [("assistant", "0001_tables")]

    operations = [CascadeInDatabase("assistant", "GroupedQuestion", "question", "answer", "search")]

from django.db import migrations

from docsite.core.postgresql.foreign_keys import CascadeInDatabase


class Migration(migrations.Migration):
    atomic = False  # each key is replaced by itself
    dependencies = [("assistant", "0026_money_of_old_rows")]

    operations = [CascadeInDatabase("assistant", "GroupedQuestion", "question", "answer", "search")]

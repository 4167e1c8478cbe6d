from django.db import migrations

from docsite.core.postgresql.foreign_keys import CascadeInDatabase


class Migration(migrations.Migration):
    atomic = False  # each key is replaced by itself
    dependencies = [("analytics", "0017_seal_by_project"), ("assistant", "0027_cascade_in_database")]

    operations = [CascadeInDatabase("analytics", "Feedback", "message")]

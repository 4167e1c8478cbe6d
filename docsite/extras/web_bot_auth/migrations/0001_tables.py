from django.db import migrations, models

from docsite.core.tenants.migrations._tables import CreateTables


class Migration(migrations.Migration):

    initial = True

    dependencies = [
    ]

    operations = [CreateTables([
        migrations.CreateModel(
            name='UsedSignature',
            fields=[
                ('digest', models.CharField(help_text='SHA-256 of what was signed, in base64url.', max_length=43, primary_key=True, serialize=False)),
                ('view', models.CharField(help_text='The same of the id of its view.', max_length=43)),
                ('ends_at', models.DateTimeField(db_index=True, help_text='From when on its time would have it refused anyway.')),
            ],
        ),
    ])]

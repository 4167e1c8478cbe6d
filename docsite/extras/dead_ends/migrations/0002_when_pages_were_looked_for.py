from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('dead_ends', '0001_tables'),
    ]

    operations = [
        migrations.AddField(
            model_name='progress',
            name='looked_at',
            field=models.DateTimeField(help_text='When the nearest pages were last looked for.', null=True),
        ),
    ]

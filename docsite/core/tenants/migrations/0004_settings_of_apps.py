from django.db import migrations


class Migration(migrations.Migration):
    """Drop what each app now keeps in a row of its own. The apps copy it before this (`run_before`)."""

    dependencies = [
        ('projects', '0003_support_links'),
    ]

    operations = [
        migrations.RemoveField(model_name='project', name=name)
        for name in (
            'ai_scope',
            'first_party_ids',
            'index_generation',
            'indexed_at',
            'secret_rotation',
            'support_url',
            'visitor_secret',
        )
    ]

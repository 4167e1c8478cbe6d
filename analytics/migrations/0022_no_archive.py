from django.db import migrations


class Migration(migrations.Migration):

    dependencies = [
        ('analytics', '0021_archive'),
    ]

    operations = [
        migrations.DeleteModel(name='ArchiveChange'),
        migrations.DeleteModel(name='ArchiveFolder'),
        migrations.DeleteModel(name='ArchivedRange'),
    ]

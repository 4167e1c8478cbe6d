from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('assistant', '0027_cascade_in_database'),
    ]

    operations = [
        migrations.RemoveField(
            model_name='evaluation',
            name='digest',
        ),
        migrations.RemoveField(
            model_name='evaluation',
            name='file',
        ),
        migrations.AddField(
            model_name='goldenquestion',
            name='fact',
            field=models.CharField(blank=True, db_default='', default='', help_text='What the answer must tell, such as: pip install acme. A judge compares the meaning. Without a judge the answer must have these words. Only evaluations look at it.', max_length=1000),
        ),
    ]

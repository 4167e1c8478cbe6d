from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('analytics', '0003_what_is_left_out'),
    ]

    operations = [
        migrations.AlterField(
            model_name='agentviews',
            name='verified',
            field=models.CharField(blank=True, choices=[('', 'not checked'), ('yes', 'verified'), ('no', 'claimed only'), ('sig', 'signed')], max_length=3),
        ),
        migrations.AlterField(
            model_name='pageview',
            name='verified',
            field=models.CharField(blank=True, choices=[('', 'not checked'), ('yes', 'verified'), ('no', 'claimed only'), ('sig', 'signed')], max_length=3),
        ),
    ]

import analytics.models.left_out
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("analytics", "0002_keys_and_partitions")]

    operations = [
        migrations.AddField(
            model_name="analyticssettings",
            name="left_out",
            field=models.TextField(
                blank=True,
                db_default="",
                default="",
                help_text="Addresses or networks of your own people, and sites that send only spam: views with such a "
                "referrer do not count. One a line. Stored views of such a site are removed within an hour, and do not come "
                "back. Views hold no address, so addresses are left out from now on.",
                validators=[analytics.models.left_out.validate],
                verbose_name="left out of all counts",
            ),
        ),
        migrations.AddField(
            model_name="analyticssettings",
            name="applied_left_out",
            field=models.TextField(blank=True, db_default="", default="", editable=False),
        ),
    ]

from django.db import migrations
from django.db.models import F, Max, Q

BATCH = 2000  # messages of one transaction, so that questions do not wait for long


def mark_unpriced(apps, schema_editor):
    """Say of old answers and days that their tokens had no price: earlier releases stored a cost of 0 for them."""
    alias = schema_editor.connection.alias
    uses = apps.get_model("assistant", "TokenUse").objects.using(alias)
    uses.filter(cost=0, tokens__gt=0).update(unpriced_tokens=F("tokens"))
    messages = apps.get_model("assistant", "Message").objects.using(alias)
    last = messages.aggregate(last=Max("pk"))["last"] or 0
    by_model = Q(prompt_tokens__gt=0) | Q(rung__in=["model", "second_model"])
    for start in range(0, last + 1, BATCH):
        messages.filter(by_model, pk__gte=start, pk__lt=start + BATCH, cost=0).update(cost=None)


class Migration(migrations.Migration):

    atomic = False

    dependencies = [
        ('assistant', '0025_money'),
    ]

    operations = [
        migrations.RunPython(mark_unpriced, migrations.RunPython.noop, elidable=True),
    ]

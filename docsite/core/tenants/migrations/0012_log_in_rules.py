"""Organizations may require single sign-on or a second factor. Memberships may come from groups."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('projects', '0011_roles'),
    ]

    operations = [
        migrations.AddField(
            model_name='membership',
            name='is_from_groups',
            field=models.BooleanField(db_default=False, default=False, editable=False, help_text="Each single sign-on sets it by the user's groups."),
        ),
        migrations.AddField(
            model_name='organization',
            name='requires_second_factor',
            field=models.BooleanField(db_default=False, default=False, help_text='Who logs in by password opens it only with a code, too.', verbose_name='requires two-factor log-in'),
        ),
        migrations.AddField(
            model_name='organization',
            name='requires_single_sign_on',
            field=models.BooleanField(db_default=False, default=False, help_text='Members open it only after single sign-on, not by password.'),
        ),
    ]

"""Members have roles. Members from before are owners. Invitations make members."""

import django.db.models.deletion
import django.utils.timezone
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('projects', '0010_reader_keys'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.AddField(
            model_name='membership',
            name='role',
            field=models.CharField(choices=[('viewer', 'Viewer: reads reports'), ('writer', 'Writer: works on content, gaps and feedback'), ('owner', 'Owner: manages keys, people and settings, and erases data')], db_default='owner', default='owner', max_length=10),
        ),
        migrations.CreateModel(
            name='Invitation',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('role', models.CharField(choices=[('viewer', 'Viewer: reads reports'), ('writer', 'Writer: works on content, gaps and feedback'), ('owner', 'Owner: manages keys, people and settings, and erases data')], max_length=10)),
                ('email', models.EmailField(blank=True, max_length=254, verbose_name='e-mail address')),
                ('digest', models.CharField(editable=False, max_length=64, unique=True)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ('expires_at', models.DateTimeField()),
                ('invited_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('organization', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='invitations', to='projects.organization')),
            ],
            options={
                'ordering': ['-pk'],
            },
        ),
    ]

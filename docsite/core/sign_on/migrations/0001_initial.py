"""Identities at the provider, and roles of groups."""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    initial = True

    dependencies = [
        ('projects', '0012_log_in_rules'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='GroupRole',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('group', models.CharField(max_length=255)),
                ('role', models.CharField(choices=[('viewer', 'Viewer: reads reports'), ('writer', 'Writer: works on content, gaps and feedback'), ('owner', 'Owner: manages keys, people and settings, and erases data')], max_length=10)),
                ('organization', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='group_roles', to='projects.organization')),
            ],
            options={
                'verbose_name': 'role of a group',
                'verbose_name_plural': 'roles of groups',
                'ordering': ['group'],
                'indexes': [models.Index(fields=['group'], name='roles_of_a_group')],
                'constraints': [models.UniqueConstraint(fields=('organization', 'group'), name='one_role_of_a_group')],
            },
        ),
        migrations.CreateModel(
            name='Identity',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('issuer', models.CharField(max_length=300)),
                ('subject', models.CharField(max_length=255)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='identities', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'verbose_name': 'single sign-on identity',
                'verbose_name_plural': 'single sign-on identities',
                'constraints': [models.UniqueConstraint(fields=('issuer', 'subject'), name='one_user_of_a_subject')],
            },
        ),
    ]

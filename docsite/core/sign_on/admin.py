"""Takes the pages of django-otp out of the admin: superusers need not read or make the codes of others."""

from django.contrib import admin
from django_otp.plugins.otp_static.models import StaticDevice
from django_otp.plugins.otp_totp.models import TOTPDevice

admin.site.unregister([StaticDevice, TOTPDevice])

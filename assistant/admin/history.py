"""Saves a form of the assistant's admin pages and adds the change to Django's admin history."""

from django.contrib.admin import ModelAdmin
from django.forms import ModelForm
from django.http import HttpRequest


def save_with_history(model_admin: ModelAdmin, request: HttpRequest, form: ModelForm) -> None:
    """Save a valid form. The history gets an entry if the row is new or a field changed."""
    is_new = form.instance.pk is None
    change_message = model_admin.construct_change_message(request, form, [], is_new)  # type: ignore[arg-type]  # it takes any form
    row = form.save()
    if is_new:
        model_admin.log_addition(request, row, change_message)
    elif form.has_changed():
        model_admin.log_change(request, row, change_message)

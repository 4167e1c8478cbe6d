"""Every table is carried with its organization, or stays for a reason."""

import pytest
from django.apps import apps

from docsite.server.placement import fence, tables

MODELS = [model for model in apps.get_models(include_auto_created=True) if model._meta.managed]


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model._meta.label)
def test_a_table_is_carried_or_stays_for_a_reason(model) -> None:
    assert (model in tables.find_paths()) != (model._meta.label in tables.NOT_CARRIED)


def test_reasons_name_tables_that_exist() -> None:
    assert set(tables.NOT_CARRIED) <= {model._meta.label for model in MODELS}


def test_what_is_carried_refers_only_to_what_is_carried_and_to_users() -> None:
    from django.contrib.auth import get_user_model

    from docsite.core.tenants.models import Deployment

    carried = {*tables.find_paths(), get_user_model(), Deployment}
    for model in tables.find_paths():
        for field in model._meta.concrete_fields:
            assert field.related_model is None or field.related_model in carried, field


def test_every_carried_table_is_fenced_but_what_reads_write() -> None:
    left = set(tables.find_paths()) - set(fence.list_models())
    assert {model._meta.label for model in left} == {"projects.Organization", *tables.WRITTEN_BY_READS}

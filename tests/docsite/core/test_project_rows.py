"""The row of a project, read in plain SQL, is that of the ORM."""

from assistant.models import AssistantSettings, SupportSettings
from docsite.core.tenants.rows import find_row


def test_a_row_is_the_one_that_the_orm_reads(make_project):
    project, other = make_project().project, make_project().project
    for model, values in (
        (AssistantSettings, {"threshold": 0.25, "instructions": "Be “brief”.", "starter_questions": ["Why?", "Ü?"]}),
        (SupportSettings, {"emails": ["help@docs.example"], "service_url": "https://s.example", "days": None}),
    ):
        assert find_row(model, project) is None
        model.objects.create(project=project, **values)
        found = find_row(model, project)
        assert found == model.objects.get(project=project)
        assert {name: getattr(found, name) for name in values} == values
        assert find_row(model, other) is None

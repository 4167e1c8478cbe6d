"""Projects that are made as `createproject` makes them, so that the audit records their creation."""

from itertools import count

import pytest

from docsite.core.tenants.management.commands.createproject import create_project
from search.indexing.ingest import ingest
from search.sources.markdown.folder import read_folder
from tests.conftest import Tenant

_numbers = count(1)


@pytest.fixture
def make_project():
    """Create a project with its keys; the audit then has an entry for each of them."""

    def make():
        domain = f"owned-{next(_numbers)}"
        project, *keys = create_project(domain, f"Organization {domain}", "https://docs.acme.example", origins=[])
        return Tenant(project, *keys, domain, project.project_id)

    return make


@pytest.fixture
def project(make_project, acme_folder):
    """Such a tenant with the pages about acme."""
    tenant = make_project()
    ingest(tenant.project, read_folder(acme_folder))
    return tenant

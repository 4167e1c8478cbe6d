"""Weights that have not seen the set they are judged on: the one place where the benchmark meets the training."""

from docsite.core.tenants.models import Project
from search.retrieval.ranking import Model
from tests.training import examples, regression
from tests.training.data import Collection


def held_out(data: Collection) -> dict[str, Model]:
    """For each set the model trained on all the others. The sets are ingested, as projects with their names."""
    projects = {name: Project.objects.get(domain=name) for name in data.sets}
    own = {name: examples.build_own(project, data.queries_of(name)) for name, project in projects.items()}
    foreign = {name: examples.build_foreign(project, data, name) for name, project in projects.items()}
    return regression.cross_validate(own, foreign)

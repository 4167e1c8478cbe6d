"""Weights that have not seen the set they are judged on: the one place where the benchmark meets the training."""

from docsite.core.tenants.models import Project
from search.retrieval.ranking import Model
from search.training import examples, fit
from search.training.data import Data


def held_out(data: Data) -> dict[str, Model]:
    """For each set the model trained on all the others. The sets are ingested, as projects with their names."""
    projects = {name: Project.objects.get(domain=name) for name in data.sets}
    own = {name: examples.own(project, data.of(name)) for name, project in projects.items()}
    foreign = {name: examples.foreign(project, data, name) for name, project in projects.items()}
    return fit.cross_validate(own, foreign)

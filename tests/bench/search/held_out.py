"""Weights that have not seen the set they are judged on: the one place where the benchmark meets the training."""

from collections.abc import Iterator
from contextlib import contextmanager

from docsite.projects.models import Project
from search import ranking
from search.ranking import Model
from search.training import examples, fit
from search.training.data import Data


def held_out(data: Data) -> dict[str, Model]:
    """For each set the model trained on all the others. The sets are ingested, as projects with their names."""
    projects = {name: Project.objects.get(domain=name) for name in data.sets}
    own = {name: examples.own(project, data.of(name)) for name, project in projects.items()}
    foreign = {name: examples.foreign(project, data, name) for name, project in projects.items()}
    return fit.cross_validate(own, foreign)


@contextmanager
def using(model: Model | None) -> Iterator[None]:
    """Search ranks with this model meanwhile; None leaves what is shipped."""
    shipped = ranking.MODEL
    ranking.MODEL = model or shipped
    try:
        yield
    finally:
        ranking.MODEL = shipped

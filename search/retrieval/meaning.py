"""How like a question sections are in meaning, where the project has vectors (`search.vectors`)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from docsite.core.tenants.models import Project
from search.vectors import nearest
from search.vectors.embedders import Vectors

NEAREST = 50  # sections that are candidates for their meaning alone
MAX_DEVIATIONS = 6.0


@dataclass(frozen=True)
class Meaning:
    """The vector of a question, and how the cosines of all sections with it are distributed.

    Models differ in their cosines: a good match has .4 with one and .9 with another.
    What counts is how far a cosine stands out.
    """

    vector: Vectors
    mean: float
    deviation: float

    def compare(self, project: Project, section_ids: Sequence[int]) -> Mapping[int, float]:
        """The likeness (0..1) of sections: standard deviations of the cosine above the mean, of six at most."""
        cosines = nearest.similarities(project, self.vector, section_ids)
        unit = (self.deviation or 1.0) * MAX_DEVIATIONS
        return {pk: min(1.0, max(0.0, (cosine - self.mean) / unit)) for pk, cosine in cosines.items()}

    def find_nearest(self, project: Project) -> list[int]:
        """The ids of the sections most like the question."""
        return [pk for pk, _ in nearest.nearest(project, self.vector, NEAREST)]


def read_meaning(project: Project, question: str) -> Meaning | None:
    """The meaning of a question; None where the project has no vectors or the model fails."""
    vector = nearest.query_vector(project, question)
    distribution = nearest.distribution(project, vector) if vector is not None else None
    return Meaning(vector, *distribution) if vector is not None and distribution else None

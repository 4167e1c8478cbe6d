"""Print precision and recall, or fit the weights (`--fit`).

Each page is looked for twice: once as it was renamed, and once as if its new page did not exist. Whatever is found the
second time is wrong.
"""

import argparse
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from docsite.extras.dead_ends import matching
from docsite.extras.dead_ends.matching import ADDRESS_ONLY, FEATURES, WITH_TEXT, Known, Matcher, Weights
from tests.bench.redirects.history import Repository

CONFIDENCES = (0.5, 0.6, 0.7, 0.8, 0.9, 0.95)
ODDS = {"page was indexed": 6, "address only": 4}  # missing pages that have a successor, for each that has none
RIVALS = 60  # pages beside the right one that the fit looks at
Floats = npt.NDArray[np.float64]


def whole(missing: Known) -> Known:
    """A page that was in the index."""
    return missing


def address_only(missing: Known) -> Known:
    """The same as an address that is only asked for."""
    return Known(missing.path)


WAYS: dict[str, tuple[Callable[[Known], Known], Weights]] = {
    "page was indexed": (whole, WITH_TEXT),
    "address only": (address_only, ADDRESS_ONLY),
}


@dataclass
class Sample:
    """A renamed page with the features of every page: as it is indexed, and by its address only."""

    name: str
    truth: int
    paths: list[str]
    features: dict[str, Floats]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("repositories", nargs="+", type=Path, help="git directories")
    parser.add_argument("--limit", type=int, default=250, help="renamed pages of each")
    parser.add_argument("--fit", action="store_true")
    parser.add_argument("--misses", type=int, default=0, help="wrong answers to show")
    options = parser.parse_args()
    samples = [sample for folder in options.repositories for sample in load(folder, options.limit)]
    for way, (_, weights) in WAYS.items():
        if options.fit:
            weights = fit(samples, way, weights)
            sys.stdout.write(f"{way}: {weights}\n")
        report(samples, way, weights, options.misses)


def load(folder: Path, limit: int) -> list[Sample]:
    """The renamed pages of a repository."""
    samples: list[Sample] = []
    matcher = Matcher([])
    for case in Repository(folder).list_cases(limit):
        if matcher.pages is not case.after:  # cases of one commit follow each other
            matcher = Matcher(case.after)
            paths = [page.path for page in case.after]
        features = {way: matcher.compare(view(case.missing)) for way, (view, _) in WAYS.items()}
        samples.append(Sample(f"{case.repository}: {case.missing.path}", paths.index(case.truth), paths, features))
    return samples


def report(samples: Sequence[Sample], way: str, weights: Weights, misses: int) -> None:
    """Print a line for each confidence, and wrong answers."""
    moved, gone, wrong = list[tuple[bool, float]](), list[float](), list[str]()
    for sample in samples:
        scores = sample.features[way] @ np.array(weights.score)
        best, confidence = matching.choose(scores, weights)
        moved.append((best == sample.truth, confidence))
        others = np.delete(scores, sample.truth)
        if len(others):
            gone.append(matching.choose(others, weights)[1])
        if confidence >= 0.9 and best != sample.truth:
            wrong.append(f"{sample.name} -> {sample.paths[best]} ({confidence:.2f}), not {sample.paths[sample.truth]}")
    sys.stdout.write(f"\n{way}: {len(samples)} renamed pages\n")
    for least in CONFIDENCES:
        right = sum(is_right for is_right, confidence in moved if confidence >= least)
        found = sum(confidence >= least for _, confidence in moved)
        false = sum(confidence >= least for confidence in gone)
        sys.stdout.write(
            f"  confidence {least}: precision {right / max(1, found):.3f}, recall {right / len(samples):.3f}; "
            f"pages that are gone: {false / max(1, len(gone)):.3f} are found all the same\n"
        )
    sys.stdout.write("".join(f"    {line}\n" for line in wrong[:misses]))


def fit(samples: Sequence[Sample], way: str, start: Weights) -> Weights:
    """Weights by which the right page wins (a softmax over the pages), then those of the confidence."""
    score, tables = np.array(start.score), list[Floats]()
    for sample in samples:
        features = sample.features[way]
        rivals = [at for at in np.argsort(-(features @ score))[:RIVALS] if at != sample.truth]
        tables.append(features[[sample.truth, *rivals]])
    for step in range(300):
        gradient = 0.002 * score
        for table in tables:
            chances = table @ score
            chances = np.exp(chances - chances.max())
            gradient += ((chances / chances.sum()) @ table - table[0]) / len(tables)
        score = np.maximum(0, score - 8 / (1 + step / 60) * gradient)
    rows, labels = list[Floats](), list[float]()
    for sample in samples:
        scores = sample.features[way] @ score
        rows.append(matching.describe(scores))
        labels.append(float(int(np.argmax(scores)) == sample.truth))
        if len(scores) > 1:
            rows.append(matching.describe(np.delete(scores, sample.truth)))
            labels.append(0.0)
    table, wanted, factors = np.array(rows), np.array(labels), np.zeros(3)
    for _ in range(100):  # Newton
        chances = 1 / (1 + np.exp(-table @ factors))
        curve = (table * (chances * (1 - chances))[:, None]).T @ table + 0.01 * np.eye(3)
        factors -= np.linalg.solve(curve, table.T @ (chances - wanted) + 0.01 * factors)
    factors[2] += np.log(ODDS[way])  # the rows have one for each
    assert len(score) == len(FEATURES)
    return Weights(tuple(np.round(score, 2).tolist()), tuple(np.round(factors, 3).tolist()))


if __name__ == "__main__":
    main()

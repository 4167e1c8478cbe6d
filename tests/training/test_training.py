"""The shipped weights and their recipe, and how to train new ones."""

import io
import json
import random
import subprocess
import sys
import tarfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from docsite.core.tenants.models import Project
from search.models import Document
from search.retrieval.ranking import FEATURES, MODEL, WEIGHTS_FILE
from tests.conftest import PATIENCE, ROOT
from tests.training import metrics, regression, weights_file
from tests.training.__main__ import main

pytestmark = pytest.mark.slow

SHIPPED = json.loads(WEIGHTS_FILE.read_text())
TOPICS = ["labels", "parcels", "printers", "webhooks", "billing", "storage", "export", "import", "backup", "search"]
VERBS = ["create", "delete", "configure", "list", "rename"]


def test_the_shipped_weights_fit_the_code():
    """Otherwise: `make train DATA=folder`."""
    assert SHIPPED["recipe"]["fingerprint"] == weights_file.fingerprint()
    assert set(SHIPPED["weights"]) <= set(FEATURES)
    assert (SHIPPED["recipe"]["penalty"], SHIPPED["recipe"]["fixed"]) == (regression.PENALTY, sorted(regression.FIXED))
    assert {name: MODEL.weights[name] for name in regression.FIXED} == regression.FIXED


def test_no_evidence_counts_against_a_page():
    for name, weight in SHIPPED["weights"].items():
        if name not in regression.FIXED and name not in regression.EITHER:
            assert weight < 0 if name in regression.AGAINST else weight > 0, name


def test_the_recipe_names_the_data_and_the_quality():
    data, figures = SHIPPED["recipe"]["data"], SHIPPED["cross_validated"]
    assert set(figures) == {*data["sets"], "all", "passages"}
    assert len(data["sets"]) >= 2
    assert all(len(digest) == 64 for digest in data["sha256"].values())
    assert {f"{name}.tar.gz" for name in data["sets"]} <= set(data["sha256"])
    for row in figures.values():
        assert all(0 <= value <= 1 for value in row.values())


def test_code_that_ranks_otherwise_needs_another_training(monkeypatch):
    before = weights_file.fingerprint()
    monkeypatch.setattr("search.retrieval.ranking.SATURATION", 9.0)
    assert weights_file.fingerprint() != before


def write(folder: Path, sets: int) -> Path:
    """Judged queries of some small documentation sets."""
    (folder / "corpora").mkdir(parents=True)
    queries = []
    for number in range(sets):
        rng = random.Random(number)
        name = f"set{number}"
        lines = []
        with tarfile.open(folder / "corpora" / f"{name}.tar.gz", "w:gz") as packed:
            for topic in TOPICS:
                parts = "".join(f"\n\n## {verb} {topic}\n\n{' '.join(rng.choices(TOPICS, k=30))}" for verb in VERBS)
                lines.append({"path": f"/{topic}", "file": f"{topic}.md"})
                add(packed, f"{name}/{topic}.md", f"# {topic} of {name}{parts}")
                for verb in rng.sample(VERBS, 3):
                    query = {"qid": f"{name}-{topic}-{verb}", "corpus": name, "kind": "question", "filter": None}
                    query |= {"query": f"how do I {verb} {topic}", "relevant": {f"/{topic}": 1}}
                    queries.append(query | ({"currentPath": "/labels"} if topic == "parcels" else {}))
            add(packed, f"{name}/manifest.jsonl", "\n".join(json.dumps(line) for line in lines))
    (folder / "queries.jsonl").write_text("\n".join(json.dumps(query) for query in queries))
    return folder


def add(packed: tarfile.TarFile, name: str, text: str) -> None:
    member = tarfile.TarInfo(name)
    member.size = len(text.encode())
    packed.addfile(member, io.BytesIO(text.encode()))


def train(source: Path, output: Path) -> "subprocess.CompletedProcess[str]":
    """Not forked, since forked processes share the seed of their hashes."""
    command = [sys.executable, "-m", "tests.training", str(source), "--output", str(output)]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=PATIENCE)


@pytest.mark.matrix
def test_training_gives_the_same_file_again(tmp_path):
    source = write(tmp_path / "data", 3)
    with ThreadPoolExecutor() as pool:
        first, second = pool.map(train, [source] * 2, [tmp_path / "first.json", tmp_path / "second.json"])
    assert first.returncode == second.returncode == 0, first.stderr
    assert (tmp_path / "first.json").read_bytes() == (tmp_path / "second.json").read_bytes()


@pytest.mark.matrix
def test_training_writes_a_file_and_touches_no_database(tmp_path):
    source = write(tmp_path / "data", 3)
    before = Document.every.count(), Project.objects.count()
    first = train(source, tmp_path / "first.json")
    assert first.returncode == 0, first.stderr
    assert (Document.every.count(), Project.objects.count()) == before
    made = json.loads((tmp_path / "first.json").read_text())
    assert made["recipe"]["fingerprint"] == weights_file.fingerprint()
    assert made["recipe"]["data"]["sets"] == ["set0", "set1", "set2"]
    assert made["recipe"]["data"]["queries"] == 90
    assert made["cross_validated"]["all"]["nDCG@10"] > 0.9
    assert made["weights"]["relative"] > 0
    assert "On each set, trained on the others:" in first.stdout
    for name in ("set0", "set1", "set2", "all"):
        assert f"\n  {name} " in first.stdout
    assert "nDCG@10" in first.stdout


def test_training_names_what_is_missing(tmp_path):
    def says(sentence: str, source: Path) -> None:
        output = tmp_path / "never.json"
        with pytest.raises(SystemExit, match=sentence):
            main([str(source), "--output", str(output)])
        assert not output.exists()

    says("no queries.jsonl", tmp_path / "nowhere")
    none = write(tmp_path / "none", 0)
    says(r"no corpora/NAME\.tar\.gz", none)
    says("at least two documentation sets", write(tmp_path / "one", 1))
    broken = write(tmp_path / "broken", 2)
    (broken / "queries.jsonl").write_text('{"qid": 1}\n')
    says("queries.jsonl line 1", broken)
    (broken / "queries.jsonl").write_text("nothing\n")
    says("queries.jsonl line 1", broken)
    (broken / "queries.jsonl").write_text("")
    says("every documentation set needs queries", broken)
    (broken / "corpora" / "set0.tar.gz").write_bytes(b"no archive")
    says("set0.tar.gz", broken)


@pytest.mark.matrix
def test_queries_for_unknown_pages_are_an_error(tmp_path):
    source = write(tmp_path / "data", 2)
    queries = source / "queries.jsonl"
    queries.write_text(queries.read_text().replace('"relevant": {"/', '"relevant": {"/elsewhere/'))
    run = train(source, tmp_path / "never.json")
    assert run.returncode == 1
    assert "No query of set0 finds a page that answers it" in run.stderr
    assert "Traceback" not in run.stderr
    assert not (tmp_path / "never.json").exists()


def test_measures():
    relevant = {"/a": 2, "/b": 1}
    assert metrics.ndcg(["/a", "/b"], relevant) == 1
    assert metrics.ndcg(["/b", "/a"], relevant) == pytest.approx((1 + 2 / 1.58496) / (2 + 1 / 1.58496), rel=1e-4)
    assert metrics.ndcg([], relevant) == 0
    assert metrics.calibration_error([(0.75, True), (0.75, True), (0.75, True), (0.75, False)]) == 0
    assert metrics.calibration_error([(1.0, False)]) == 1

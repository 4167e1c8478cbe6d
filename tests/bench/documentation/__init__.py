"""A real documentation set for the benchmarks: Django's, from its source package, with questions that are ours.

    python -m tests.bench.documentation FOLDER

The pages below `SECTIONS` are read as the service reads any Sphinx project and stored as Markdown, in the layout that
`tests.training.data` loads. A second, small set is the service's own documentation with the questions that
`tests/docsite/site/test_own_questions.py` asks it: each set is asked the other's questions, too, to see refusals.
"""

import subprocess
import sys
from pathlib import Path

from tests.bench.relays import ENVIRONMENTS, ROOT, Trouble, environment, say

PACKAGE = "django==5.2.19"
SECTIONS = ("intro", "topics", "howto", "faq")  # folders of its documentation
NAME, OWN = "django", "own"
FOLDER = ENVIRONMENTS / "documentation"
SECONDS = 300


def prepare() -> Path:
    """The folder of judged queries, made when it is missing. Raises Trouble when the package cannot be had."""
    folder = FOLDER / PACKAGE
    if (folder / "queries.jsonl").exists() and _is_current(folder):
        return folder
    say(f"Preparing the documentation of {PACKAGE} …")
    folder.mkdir(parents=True, exist_ok=True)
    if not list(folder.glob("*.tar.gz")):
        # The shell's environment stays: it says where packages come from.
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps"]
        command += ["--no-binary", ":all:", PACKAGE, "--dest", str(folder)]
        try:
            subprocess.run(command, timeout=SECONDS, check=True, capture_output=True)
        except subprocess.SubprocessError as failed:
            output = (getattr(failed, "stderr", None) or b"").decode(errors="replace").splitlines()
            raise Trouble("\n".join([f"The source of {PACKAGE} could not be downloaded.", *output[-3:]])) from None
    try:
        subprocess.run(
            [sys.executable, "-m", "tests.bench.documentation", str(folder)],
            cwd=ROOT, timeout=SECONDS, check=True, env=environment(DJANGO_SETTINGS_MODULE="docsite.settings"),
        )  # fmt: skip
    except subprocess.SubprocessError:
        raise Trouble(f"The documentation of {PACKAGE} could not be read.") from None
    return folder


def _is_current(folder: Path) -> bool:
    """Whether the queries are not older than the questions and pages that they were made of."""
    made = (folder / "queries.jsonl").stat().st_mtime
    sources = [*Path(__file__).parent.glob("*.py"), ROOT / "tests/docsite/site/test_own_questions.py"]
    sources += (ROOT / "docsite/site/content").glob("*.md")
    return all(source.stat().st_mtime < made for source in sources)

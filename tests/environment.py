"""The environment of a test run, set before Django reads its settings (pytest loads this with `-p`).

Settings of the shell are forgotten, above all a DATABASE_URL that may be real.
`TEST_DATABASE_URL` and `TEST_REDIS_URL` run the suite on other stores.
"""

import atexit
import gc
import os
import shutil
import tempfile
from pathlib import Path

from docsite.env import list_models
from tests.ports import free_port

gc.disable()  # until all tests are collected, which stay: a seventh of the time that this takes
for name in (name for model in list_models() for name in model.model_fields):
    os.environ.pop(name.upper(), None)

DATA_DIR = tempfile.mkdtemp(prefix="docs-service-")
atexit.register(shutil.rmtree, DATA_DIR, ignore_errors=True)
os.environ["DATA_DIR"] = DATA_DIR
os.environ["DATABASE_URL"] = os.environ.get("TEST_DATABASE_URL", "")
os.environ["REDIS_URL"] = os.environ.get("TEST_REDIS_URL", "")
# All tests of a run have one address. Those of a limit set their own.
os.environ["LIMIT_SEARCH_IP"] = os.environ["LIMIT_FEEDBACK_IP"] = os.environ["LIMIT_CPU_IP"] = "100000/h"
os.environ["LIMIT_SUPPORT_IP"] = os.environ["LIMIT_LOGIN_IP"] = "100000/h"
os.environ["TEST_CONSTANTS"] = '{"docsite.core.http.ratelimit.SLOW_DOWN_SECONDS": 0}'  # see `tests.processes`
os.environ["WEBHOOK_PRIVATE_HOSTS"] = f"127.0.0.1:{free_port()}"  # of `tests.receivers`
os.environ["DATABASE_SECONDS"] = "60"  # on a busy machine; tests of faults set their own
os.environ["EMBEDDINGS"] = "none"  # tests of vectors choose their own

_WIDGET = Path(__file__).parents[1] / "static" / "widget"
_SCRIPTS = (
    *("widget", "panel", "markdown", "highlight", "citation-card", "menu", "person-form"),
    *("search", "search-dialog", "deflect", "views"),
)
_STAND_IN = "throw new Error('This script stands in for tests. Run make widget.');\n" * 9
if not (_WIDGET / "dist" / "widget.js").exists():  # Node.js builds it, and most tests only see that it is served
    build = Path(DATA_DIR, "widget", "dist")
    build.mkdir(parents=True)
    shutil.copy(_WIDGET / "widget.d.ts", build.parent)
    for name in _SCRIPTS:
        (build / f"{name}.js").write_text(f"// {name}\n{_STAND_IN}")
    os.environ["DJANGO_SETTINGS_MODULE"] = "tests.assistant.widget.other_build"
    os.environ["OTHER_BUILD"] = str(build)

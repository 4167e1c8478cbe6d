import json

import pytest

from tests.search.sources import sites


@pytest.fixture(scope="module")
def server():
    """A site whose pages a test sets."""
    site, stop = sites.serve()
    yield site
    stop()


@pytest.fixture
def write(tmp_path):
    """Write files below a folder of the test's own, and give that folder."""

    def written(files):
        for name, text in files.items():
            file = tmp_path / "site" / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text if isinstance(text, str) else json.dumps(text))
        return tmp_path / "site"

    return written

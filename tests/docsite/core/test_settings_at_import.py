"""While modules are imported they read no setting that depends on the environment.

So a process that is forked after the imports is like a new one. `tests.preload` counts what they read.
"""

import json
import sys
from importlib import import_module

from tests import scenarios

# Read by Django, which reads them again or needs them for the length of names of tables, which is below every limit.
AGAIN = {"CACHES", "DATABASES", "DEBUG", "LOGGING", "LOGGING_CONFIG"}
# The same in every process of a checkout.
FIXED = {"AUTH_USER_MODEL", "FILES", "INSTALLED_APPS", "MIDDLEWARE", "SESSION_COOKIE_NAME", "SESSION_ENGINE"}
OF_DJANGO = (
    "ABSOLUTE_",
    "DATA_UPLOAD_",
    "DEFAULT_AUTO",
    "DEFAULT_CHARSET",
    "DEFAULT_EXCEPTION",
    "DEFAULT_INDEX",
    "DEFAULT_TABLE",
    "FORCE_",
    "MEDIA_",
    "NINJA_",
    "STATICFILES_",
    "USE_",
)


def write_settings_read() -> None:
    """Write the names of the settings, and the modules that read them; not of the module that is imported anew."""
    preload = import_module("tests.preload")
    read = sorted(preload.settings_read)
    assert ("ENV", preload.BY_SETTINGS) in read
    json.dump([[name, reader] for name, reader in read if reader != preload.BY_SETTINGS], sys.stdout)


def test_modules_read_only_what_never_changes(tmp_path):
    read = json.loads(scenarios.run(write_settings_read, {"DATA_DIR": str(tmp_path)}))
    assert len(read) > 20
    wrong = [
        (name, reader)
        for name, reader in read
        if name not in FIXED
        and not name.startswith(OF_DJANGO)
        and not (name in AGAIN and reader.split(".")[0] == "django")
    ]
    assert wrong == []

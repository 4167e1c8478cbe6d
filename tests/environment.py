"""The environment of a test run, set before Django reads its settings (pytest loads this with `-p`)."""

import atexit
import os
import shutil
import tempfile

KEPT = ("DATABASE_URL", "REDIS_URL")  # the services tests run the suite again on PostgreSQL and Redis

for name in list(os.environ):
    if name.startswith(("OPENAI_", "LIMIT_")) or name in ("SECRET_KEY", "DEBUG", "ALLOWED_HOSTS", "TRUSTED_PROXIES"):
        del os.environ[name]

DATA_DIR = tempfile.mkdtemp(prefix="docs-service-")
atexit.register(shutil.rmtree, DATA_DIR, ignore_errors=True)
os.environ["DATA_DIR"] = DATA_DIR
os.environ["SITE_DOMAIN"] = "demo"
os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "1"  # fixtures of async tests use the ORM directly

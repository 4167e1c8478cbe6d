"""Django's settings, read from the typed environment of `env.py`. One file for every deployment."""

import tomllib
from pathlib import Path
from urllib.parse import unquote, urlsplit

from redis.backoff import NoBackoff
from redis.exceptions import ConnectionError as RedisConnectionError
from redis.retry import Retry

from docsite import data_folder, database_settings
from docsite import env as environment
from docsite.private_files import protect_database

BASE_DIR = Path(__file__).resolve().parent.parent
IS_CHECKOUT = (BASE_DIR / "manage.py").exists()
FILES = BASE_DIR if IS_CHECKOUT else BASE_DIR / "docsite" / "files"  # where an installed package has the same files
VERSION: str = tomllib.loads((FILES / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]
ENV, EXTRAS = environment.load()
if not IS_CHECKOUT and "data_dir" not in ENV.model_fields_set:
    ENV.data_dir = data_folder.find_user_folder()
DATA_DIR = data_folder.prepare_data_dir(ENV, BASE_DIR if IS_CHECKOUT else Path.cwd())

SECRET_KEY = data_folder.secret_key(ENV)
DEBUG = ENV.debug
ALLOWED_HOSTS = [host.partition("/")[0] for host in ENV.allowed_hosts]
BASE_PATHS = {host.lower(): f"/{path}" for host, _, path in (each.partition("/") for each in ENV.allowed_hosts) if path}

# Not Daphne's app, which would load the server into every command. Of two commands named `runserver`, the first counts.
INSTALLED_APPS = [
    "docsite.extras.telemetry",
    "docsite.server",
    "docsite.core.workspace.apps.WorkspaceAdminConfig",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "django_ratelimit",
    "docsite.core.tenants",
    "django_otp",
    "django_otp.plugins.otp_totp",
    "django_otp.plugins.otp_static",
    "docsite.core.sign_on",
    "docsite.core.delivery",
    "docsite.core.notifications",
    "docsite.core.workspace",
    "search",
    "assistant",
    "analytics",
    "docsite.privacy",
    "docsite.setup",
    "docsite.extras.access_logs",
    "docsite.extras.agent_addresses",
    "docsite.extras.agent_pages",
    "docsite.extras.conformance",
    "docsite.extras.database_copy",
    "docsite.extras.dead_ends",
    "docsite.extras.demo",
    "docsite.extras.doctor",
    "docsite.extras.mcp",
    "docsite.extras.model_check",
    "docsite.extras.openid_connect",
    "docsite.extras.replay",
    "docsite.extras.try_docs",
    "docsite.extras.view_log",
    "docsite.extras.web_bot_auth",
]

# Pages and the admin. API paths and sockets pass API_MIDDLEWARE instead (see server/handlers.py):
# the stock chain is a third of the time that an answer waits for its first token.
MIDDLEWARE = [
    "docsite.server.middleware.compression.Compression",
    "docsite.server.middleware.base_path.add_base_path",
    "docsite.server.middleware.static_files.StaticFiles",
    "docsite.server.middleware.security_headers.add_security_headers",
    "docsite.server.middleware.nul.refuse_nul",
    "django.middleware.security.SecurityMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "docsite.server.middleware.actor.set_actor",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "analytics.collecting.middleware.RecordViews",
]
API_MIDDLEWARE = ["docsite.core.access.api_middleware.ApiMiddleware"]

ROOT_URLCONF = "docsite.server.urls"
API_URLCONF = "docsite.server.api_urls"
ASGI_APPLICATION = "docsite.asgi.application"

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [FILES / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.template.context_processors.tz",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ],
            "builtins": ["docsite.core.unicode.template_filters"],
        },
    }
]

DATABASES = {"default": database_settings.describe(ENV.database_url, DATA_DIR / "db.sqlite3")}
if DATABASES["default"]["ENGINE"] == "django.db.backends.sqlite3":
    protect_database(Path(DATABASES["default"]["NAME"]))
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

CACHES = {
    "default": {"BACKEND": "django.core.cache.backends.locmem.LocMemCache"},
    "limits": {
        "BACKEND": "docsite.core.http.counters.CounterCache",
        "LOCATION": "projects_counter",
    },
}
if ENV.redis_url:
    CACHES["limits"] = {
        "BACKEND": "docsite.core.redis_servers.cache.RedisCache",
        "LOCATION": ENV.redis_url,
        "OPTIONS": {  # type: ignore[dict-item]  # nested
            "socket_timeout": 0.25,
            "socket_connect_timeout": 0.25,
            "retry": Retry(NoBackoff(), 1),  # a pooled connection may be closed already
            "retry_on_error": [RedisConnectionError],
        },
    }
RATELIMIT_USE_CACHE = "limits"

SILENCED_SYSTEM_CHECKS = [
    "django_ratelimit.E003",  # CounterCache is shared and atomic, as tests check
    "django_ratelimit.W001",
    "security.W005",  # whether other hosts of the domain are on HTTPS, too, is for its owner to decide
    "security.W008",  # the proxy redirects to HTTPS: the service does not see how it is reached without TRUSTED_PROXIES
    "security.W021",  # as W005
]

AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator"},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
]

TIME_ZONE = "UTC"
USE_I18N = False

STATIC_URL = f"{ENV.cdn_origin}/static/"
STORAGES = {"staticfiles": {"BACKEND": "docsite.server.middleware.static_files.Storage"}}
STATICFILES_DIRS = [("site", FILES / "static" / "site"), ("admin", FILES / "static" / "admin")]
WIDGET_DIST = FILES / "static" / "widget" / "dist"
WHITENOISE_USE_FINDERS = True

# Two MiB is the largest request body; FILE_UPLOAD_MAX_MEMORY_SIZE above it keeps bodies off the disk.
DATA_UPLOAD_MAX_MEMORY_SIZE = 2 * 1024 * 1024
FILE_UPLOAD_MAX_MEMORY_SIZE = DATA_UPLOAD_MAX_MEMORY_SIZE + 1

_mail = urlsplit(ENV.email_url)
EMAIL_HOST = _mail.hostname or ""
EMAIL_USE_TLS, EMAIL_USE_SSL = _mail.scheme == "smtp+tls", _mail.scheme == "smtp+ssl"
EMAIL_PORT = _mail.port or (587 if EMAIL_USE_TLS else 465 if EMAIL_USE_SSL else 25)
EMAIL_HOST_USER, EMAIL_HOST_PASSWORD = unquote(_mail.username or ""), unquote(_mail.password or "")
EMAIL_TIMEOUT = 15
DEFAULT_FROM_EMAIL = ENV.email_from or "docs-service@localhost"

# Other applications of the host may have Django's names. Browsers take `__Host-` only from this host, over TLS.
_COOKIE_PREFIX = "__Host-docs_" if ENV.https_only else "docs_"
SESSION_COOKIE_NAME = f"{_COOKIE_PREFIX}session"
CSRF_COOKIE_NAME = f"{_COOKIE_PREFIX}csrf"
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = ENV.https_only
SECURE_HSTS_SECONDS = 30 * 86_400 if ENV.https_only else 0
SESSION_COOKIE_HTTPONLY = True
SESSION_COOKIE_SAMESITE = "Lax"
CSRF_COOKIE_HTTPONLY = True
CSRF_FAILURE_VIEW = "docsite.server.errors.refuse_form"
# Then a form is taken where a proxy loses the scheme or the host name, too.
CSRF_TRUSTED_ORIGINS = [f"https://{host}" for host in ALLOWED_HOSTS if not host.startswith((".", "*"))]
SECURE_REFERRER_POLICY = "strict-origin-when-cross-origin"
X_FRAME_OPTIONS = "DENY"
LOGIN_URL = "admin:login"
OTP_TOTP_ISSUER = "Documentation service"  # as apps for codes show it
LOGIN_REDIRECT_URL = "admin:index"

LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {
        "lines": {"()": "docsite.core.logs.LineFormatter"},
        "json": {"()": "docsite.core.logs.JsonFormatter"},
    },
    "filters": {
        "unavailable": {"()": "docsite.core.logs.UnavailableFilter"},
        "outage": {"()": "docsite.core.logs.OutageFilter"},
    },
    "handlers": {"console": {"class": "logging.StreamHandler", "formatter": ENV.log_format, "filters": ["outage"]}},
    "root": {"handlers": ["console"], "level": "WARNING"},
    "loggers": {
        # The response tells the caller; the log does not need it.
        "django.request": {"level": "ERROR", "filters": ["unavailable"]},
        "django.security.TooManyFieldsSent": {"level": "CRITICAL"},
        "django.security.DisallowedHost": {"level": "CRITICAL"},
        "search.vectors.background": {"level": "INFO"},  # its progress, which takes minutes
        "docsite.core.request_times": {"level": "INFO"},
        # Each request with the client's address, where uvicorn or Daphne's own command serves.
        "uvicorn.access": {"level": "CRITICAL"},
        "django.channels.server": {"level": "CRITICAL"},
        "daphne.access": {"level": "CRITICAL"},
    },
}

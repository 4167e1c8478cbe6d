"""The files in `docsite/deploy` agree with the code and with the pages, and the programs that read them accept them."""

import argparse
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from django.core.management import get_commands, load_command_class
from django.urls import URLPattern, URLResolver, get_resolver
from pydantic import ValidationError

from docsite.env import Env, list_models
from tests.conftest import ROOT

DEPLOY = ROOT / "docsite" / "deploy"
UNITS = sorted((DEPLOY / "systemd").glob("*.service"))
PAGE = (ROOT / "docsite/site/content/deployment.md").read_text()
RULES = [rule for group in yaml.safe_load((DEPLOY / "alerts.yml").read_text())["groups"] for rule in group["rules"]]
PARTS = (DEPLOY / "grown" / "part.sh").read_text()
COMPOSE = yaml.safe_load((DEPLOY / "compose.yaml").read_text())["services"]
KUBERNETES = list(yaml.safe_load_all((DEPLOY / "kubernetes.yaml").read_text()))
PROGRAMS = f"{os.environ['PATH']}:{sys.prefix}/programs/bin:/usr/local/bin:/usr/sbin:/usr/bin"
PROMTOOL = shutil.which("promtool", path=PROGRAMS) or "promtool"
SERVICE = ("small", "migrate", "web-1", "web-2", "worker")  # the containers with our image
SETTINGS = {name.upper() for model in list_models() for name in model.model_fields}


def read_environment(name: str) -> dict[str, str]:
    """The variables of an environment file, with a password of ours, as the shell reads them."""
    text = re.sub("@[A-Z_]+@", "0123456789abcdef", (DEPLOY / name).read_text())
    lines = [shlex.split(line, comments=True) for line in text.splitlines()]
    return dict(line[0].split("=", 1) for line in lines if line)


def pods() -> dict[str, dict[str, Any]]:
    """The pods of the manifests, by the name of what makes them."""
    templates = {item["metadata"]["name"]: item.get("spec", {}).get("template") for item in KUBERNETES}
    return {name: template["spec"] for name, template in templates.items() if template}


def check_command(words: list[str]) -> None:
    """Fail unless a management command takes these words."""
    parser = load_command_class(get_commands()[words[0]], words[0]).create_parser("", words[0])
    parser.exit_on_error = False
    assert isinstance(parser.parse_args(words[1:]), argparse.Namespace)


def needs_program(name: str) -> pytest.MarkDecorator:
    """Skip a test where a program is missing: `tests/unpack.sh` unpacks it where there are apt and a network."""
    is_missing = shutil.which(name, path=PROGRAMS) is None
    return pytest.mark.skipif(is_missing, reason=f"{name} could not be downloaded")


def test_the_environment_files_set_what_exists() -> None:
    variables = read_environment("environment")
    assert set(variables) <= SETTINGS
    assert set(read_environment("environment.pool")) == {"DATABASE_URL"}
    settings = Env(**{name.lower(): value for name, value in variables.items()})
    assert settings.https_only
    assert settings.trusted_proxies == ("127.0.0.1",)


def test_containers_set_what_exists() -> None:
    for name in SERVICE:
        assert set(COMPOSE[name]["environment"]) <= SETTINGS
        filled = {
            key.lower(): re.sub(r"\$\{\w+:[-?]\}", "x" * 32, value)
            for key, value in COMPOSE[name]["environment"].items()
        }
        for model in list_models():
            model(**{key: value for key, value in filled.items() if key in model.model_fields})
    (settings,) = [item["data"] for item in KUBERNETES if item["kind"] == "ConfigMap"]
    assert set(settings) <= SETTINGS
    given = {name.lower(): value for name, value in settings.items()}
    with pytest.raises(ValidationError) as wrong:  # nobody trusts a network that they have not written themselves
        Env(**given)
    assert [error["loc"] for error in wrong.value.errors()] == [("trusted_proxies",)]
    assert Env(**given | {"trusted_proxies": "10.42.7.0/24"}).https_only
    image = (ROOT / "Dockerfile").read_text()
    assert {name for name in re.findall(r"([A-Z_]+)=", image) if not name.startswith("PYTHON")} <= SETTINGS


@pytest.mark.parametrize("key", ['a#b\'c%d "e" $f \\g', "`id`$(id)", "'", '"', "\\", "$", "%h # no comment"])
def test_an_environment_file_keeps_any_secret(key: str, tmp_path: Path) -> None:
    """The rule of the page: double quotes, and a backslash before four characters."""
    file = tmp_path / "environment"
    value = re.sub(r'(["$`\\])', r"\\\1", key)
    file.write_text(f'SECRET_KEY="{value}"\n')
    script = f'set -a; . {file}; printf %s "$SECRET_KEY"'
    assert subprocess.run(["sh", "-euc", script], capture_output=True, text=True, check=True).stdout == key


@pytest.mark.parametrize("unit", UNITS, ids=lambda unit: unit.name)
def test_a_unit_runs_a_command_within_limits(unit: Path) -> None:
    lines = [line.split("=", 1) for line in unit.read_text().splitlines() if re.match(r"[A-Z]\w+=", line)]
    values = dict(lines)
    program, *words = values["ExecStart"].replace("%i", "8000").split()
    assert program == "/opt/docs-service/current/bin/docs-service"
    check_command(words)
    ends = float(Env.model_fields["shutdown_seconds"].default + Env.model_fields["drain_seconds"].default)
    assert float(values["TimeoutStopSec"]) > ends + 10
    assert int(values["LimitNOFILE"]) >= 65536
    assert {"MemoryMax", "TasksMax", "CapabilityBoundingSet", "SystemCallFilter"} <= set(values)
    assert values["ProtectSystem"] == "strict"
    assert values["OOMPolicy"] == "continue"
    environment = read_environment("environment")
    assert environment["DATA_DIR"] == f"/var/lib/{values['StateDirectory']}" == values["WorkingDirectory"]


def test_units_have_the_same_limits() -> None:
    """The lines from the user on, except what a unit runs and the comments."""
    own = ("ExecStart=", "#")
    parts = [unit.read_text().partition("[Service]")[2].splitlines() for unit in UNITS]
    web, worker = ([line for line in lines if not line.startswith(own)] for lines in parts)
    assert web == worker


def test_containers_run_commands_within_limits() -> None:
    for name, service in COMPOSE.items():
        assert "mem_limit" in service, name
        assert "healthcheck" in service or name in SERVICE, "the image has one"
        if name in SERVICE and name != "small":
            check_command(service["command"][2:])
    assert "HEALTHCHECK" in (ROOT / "Dockerfile").read_text()
    for name, pod in pods().items():
        (container,) = pod["containers"]
        check_command(container["args"][2:])
        assert container["resources"]["limits"]["memory"], name
        assert container["securityContext"]["readOnlyRootFilesystem"]
        assert pod["securityContext"]["runAsUser"] == 999
    assert "--uid 999" in (ROOT / "Dockerfile").read_text()


def test_a_profile_starts_what_it_needs_and_nothing_of_the_other() -> None:
    profiles = {name: service["profiles"] for name, service in COMPOSE.items()}
    assert {name: [name if name == "small" else "grown"] for name in COMPOSE} == profiles
    for name, service in COMPOSE.items():
        assert all(profiles[other] == profiles[name] for other in service.get("depends_on", ())), name
    small, grown = COMPOSE["small"]["environment"], COMPOSE["web-1"]["environment"]
    assert set(grown) - set(small) == {"DATABASE_URL", "REDIS_URL", "VIEW_LOG_URL"}


def test_containers_of_engines_start_a_part_that_exists_with_its_variables() -> None:
    """`make grown` starts the same parts, and the runs with faults kill them."""
    kinds = re.findall(r"^(\w+)\)$", PARTS, re.MULTILINE)
    variables = set(re.findall(r"\$\{?([A-Z_]+)", PARTS)) - {"PATH"}
    engines = {name: service for name, service in COMPOSE.items() if name not in SERVICE}
    assert sorted({service["command"][2] for service in engines.values()}) == sorted(kinds)
    for name, service in engines.items():
        assert service["command"][:2] == ["sh", "/deploy/grown/part.sh"]
        assert set(service["environment"]) <= variables, name
        mounted = [volume.partition(":")[0] for volume in service["volumes"]]
        assert all((DEPLOY / path).exists() for path in mounted if path.startswith("./") and path != "./tls"), name
        hosts = re.findall(r"([a-z]+-\d):\d+", " ".join(service["environment"].values()))
        assert set(hosts) <= set(COMPOSE), name
    for file in set(re.findall(r"\$here/\.\./([\w.]+)", PARTS)):
        assert [name for name, service in engines.items() if f"./{file}:/deploy/{file}:ro" in service["volumes"]], file


def test_the_manifests_name_each_other() -> None:
    by_kind = {(item["kind"], item["metadata"]["name"]): item for item in KUBERNETES}
    service = by_kind["Service", "docs-web"]
    labels = by_kind["Deployment", "docs-web"]["spec"]["template"]["metadata"]["labels"]
    for selector in (
        service["spec"]["selector"],
        by_kind["Deployment", "docs-web"]["spec"]["selector"]["matchLabels"],
        by_kind["PodDisruptionBudget", "docs-web"]["spec"]["selector"]["matchLabels"],
    ):
        assert selector == labels
    for name in ("docs-web", "docs-worker"):
        (container,) = by_kind["Deployment", name]["spec"]["template"]["spec"]["containers"]
        assert {probe: container[probe]["httpGet"]["path"] for probe in ("readinessProbe", "livenessProbe")} == {
            "readinessProbe": "/health/ready",
            "livenessProbe": "/health/live",
        }
    (rule,) = by_kind["Ingress", "docs-service"]["spec"]["rules"]
    assert rule["http"]["paths"][0]["backend"]["service"]["name"] == "docs-web"
    settings = by_kind["ConfigMap", "docs-service-1"]["data"]
    pod = by_kind["Deployment", "docs-web"]["spec"]["template"]["spec"]
    ends = float(settings["DRAIN_SECONDS"]) + float(settings["SHUTDOWN_SECONDS"])
    assert pod["terminationGracePeriodSeconds"] > ends + 10


def test_prometheus_and_the_restart_ask_each_unit() -> None:
    (job,) = yaml.safe_load((DEPLOY / "prometheus.yml").read_text())["scrape_configs"]
    ports = {target.rpartition(":")[2] for target in job["static_configs"][0]["targets"]}
    (worker,) = re.findall(r"--port (\d+)", (DEPLOY / "systemd" / "docs-worker.service").read_text())
    assert ports == {"8000", "8001", worker}
    assert f"restart docs-worker {worker}\n" in (DEPLOY / "restart.sh").read_text()


def test_every_alert_has_a_runbook() -> None:
    page = (ROOT / "docsite/site/content/runbooks.md").read_text()
    headings = re.findall(r"^## (.+)$", page, re.MULTILINE)
    assert headings == [rule["alert"] for rule in RULES]
    for rule in RULES:
        anchor = rule["annotations"]["runbook_url"].partition("#")[2]
        assert anchor == rule["alert"].lower()
        assert rule["labels"]["severity"] in ("page", "warning")


def test_every_file_is_on_a_page() -> None:
    content = [(ROOT / f"docsite/site/content/{name}.md").read_text() for name in ("runbooks", "at-scale")]
    pages = "".join([PAGE, *content, (DEPLOY / "set-up.sh").read_text()])
    files = [file for file in DEPLOY.rglob("*") if file.is_file()]
    names = ["chart", *(file.name for file in files if DEPLOY / "chart" not in file.parents)]
    assert [name for name in names if name not in pages and not name.endswith(".service")] == []
    for named in re.findall(r"docsite/deploy/([\w.-]+)", PAGE):
        assert (DEPLOY / named).exists(), named


def test_scripts_are_shell_scripts() -> None:
    for script in [*DEPLOY.rglob("*.sh"), DEPLOY / "docs-service"]:
        subprocess.run(["sh", "-n", str(script)], check=True)


def list_paths(resolver: URLResolver, prefix: str = "") -> Iterator[str]:
    """The patterns of all addresses, such as `/shared/<str:token>`."""
    for pattern in resolver.url_patterns:
        path = prefix + str(pattern.pattern)
        if isinstance(pattern, URLPattern):
            yield path
        else:
            yield from list_paths(pattern, path)


def test_the_log_of_nginx_has_no_secrets_of_links_and_no_chats() -> None:
    site = (DEPLOY / "nginx.conf").read_text()
    table = re.findall(r"map \$uri \$docs_path \{(.*?)\n\}", site, re.DOTALL)[0]
    rules = [re.compile(rule.replace("(?<", "(?P<")) for rule in re.findall(r'"~(.+?)"\s+"\$\w+\.\.\.";', table)]
    log_format = site.partition("log_format")[2].partition(";")[0]
    assert re.findall(r"\$(?:docs_path|uri|request_uri|request|http_referer|args)\b", log_format) == ["$docs_path"]
    paths = [path for name in ("urls", "api_urls") for path in list_paths(get_resolver(f"docsite.server.{name}"), "/")]
    secret = [path for path in paths if re.search(r"<(\w+:)?(token|key|secret|code|chatId|threadId|thread_id)>", path)]
    secret += [path.removeprefix("/discovery") for path in secret if "chatId" in path]
    assert "/shared/<str:token>" in secret
    assert [path for path in secret if "chatId" in path]
    for path in secret:
        address = re.sub("<domain>|<str:domain>|<projectId>", "acme", path)
        kept = [link.group() for rule in rules if (link := rule.match(address))]
        assert len(kept) == 1, path
        assert "<" not in kept[0]
    for path in ("/shared-pages", "/discovery/v2/assistant/acme/message", "/admin/project/acme/conversations"):
        assert not [rule for rule in rules if rule.match(path)], path


@needs_program("promtool")
def test_prometheus_accepts_the_rules(tmp_path: Path) -> None:
    result = subprocess.run(
        [PROMTOOL, "check", "rules", str(DEPLOY / "alerts.yml")], capture_output=True, text=True, check=False
    )
    assert result.returncode == 0, result.stderr


@needs_program("promtool")
@pytest.mark.parametrize("store", ["database", "redis", "view_log"])
def test_a_store_that_fails_has_one_alert(tmp_path: Path, store: str) -> None:
    test = {
        "interval": "1m",
        "input_series": [{"series": f'docs_store_up{{store="{store}"}}', "values": "0+0x10"}],
        "promql_expr_test": [
            {
                "expr": 'count by (alertname) (ALERTS{alertstate="firing"})',
                "eval_time": "8m",
                "exp_samples": [{"labels": '{alertname="DocsServiceStoreDown"}', "value": 1}],
            }
        ],
    }
    file = tmp_path / "test.yml"
    file.write_text(json.dumps({"rule_files": [str(DEPLOY / "alerts.yml")], "tests": [test]}))
    result = subprocess.run([PROMTOOL, "test", "rules", str(file)], capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stdout + result.stderr


def test_the_dashboard_is_one_that_grafana_imports() -> None:
    dashboard = json.loads((DEPLOY / "grafana.json").read_text())
    assert {"title", "uid", "schemaVersion", "panels"} <= set(dashboard)
    places = [(panel["gridPos"]["x"], panel["gridPos"]["y"]) for panel in dashboard["panels"]]
    assert len(set(places)) == len(places)
    assert len({panel["id"] for panel in dashboard["panels"]}) == len(places)


@pytest.mark.parametrize(
    ("tag", "changelog", "sentence"),
    [
        ("v1.4.2", "## 1.4.2, 2026-12-01", ""),
        ("v1.4.3", "## 1.4.3, 2026-12-01", "another version"),
        ("v1.4.2", "## 1.4.2, not released yet", "needs the heading"),
    ],
)
def test_a_release_has_one_version(tmp_path: Path, tag: str, changelog: str, sentence: str) -> None:
    (tmp_path / "pyproject.toml").write_text('[project]\nversion = "1.4.2"\n')
    (tmp_path / "CHANGELOG.md").write_text(f"# Changelog\n\n{changelog}\n")
    script = ROOT / ".github/workflows/check-version.sh"
    result = subprocess.run(["sh", str(script), tag], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert bool(result.returncode) == bool(sentence)
    assert sentence in result.stderr


def test_the_workflow_runs_what_is_here() -> None:
    workflow = yaml.safe_load((ROOT / ".github/workflows/release.yml").read_text())
    commands = "\n".join(step.get("run", "") for job in workflow["jobs"].values() for step in job["steps"])
    for file in re.findall(r"(?:ba)?sh ((?:\.\w+/)[\w./-]+)", commands):
        assert (ROOT / file).exists(), file
    targets = re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE)
    assert set(re.findall(r"make ([\w-]+)", commands)) <= set(targets)
    assert "tests" in (ROOT / ".dockerignore").read_text().splitlines()

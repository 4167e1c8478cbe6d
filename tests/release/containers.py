"""The image, the compose file and the chart, as far as that goes without Docker and Kubernetes."""

import json
import re
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import yaml

from tests.processes import ROOT
from tests.release.trial import SECONDS, Row, Trial, clean_environment, describe_size, install, make_environment, run

DEPLOY = ROOT / "docsite" / "deploy"
# The last one has Helm's own engine.
PROGRAMS = ("check-jsonschema==0.39.0", "kubernetes-validate==1.37.0", "helm-python-sdk==0.2.2")
KUBERNETES = ("1.25", "1.37")
OWN_VALUES = {
    "domain": "docs.acme.example",
    "trustedProxies": "10.42.7.0/24",
    "image": "ghcr.io/acme/docs-service",
    "webReplicas": 3,
}
RENDER = """
import json, sys, helm_python as helm
chart, values = sys.argv[1], json.loads(sys.argv[2])
assert not helm.lint(chart)["errors"]
with helm.Chart.load(chart) as loaded:
    sys.stdout.write("".join(loaded.render(values, name="docs-service", namespace="docs-service").values()))
"""
PLATFORMS = {"amd64": "x86_64", "arm64": "aarch64"}


def rehearse(trial: Trial) -> Iterator[Row]:
    """Check the files with the programs that know their schemas, and run what the image runs."""
    folder = trial.make_folder("containers")
    programs = make_environment(folder / "venv", "python3")
    install(programs, *PROGRAMS)
    chart = check_chart(trial, programs, folder)
    yield Row(
        "chart docs-service",
        describe_size(trial.built.chart),
        f"Helm's engine, schemas of Kubernetes {' and '.join(KUBERNETES)}",
        chart,
    )
    schema = ("--builtin-schema", "vendor.compose-spec")
    run(programs / "check-jsonschema", *schema, DEPLOY / "compose.yaml", cwd=folder)
    services = yaml.safe_load((DEPLOY / "compose.yaml").read_text())["services"]
    profiles = {name: sum(name in service["profiles"] for service in services.values()) for name in ("small", "grown")}
    yield Row(
        "compose.yaml", "", "schema of Compose", ", ".join(f"profile {name} of {n}" for name, n in profiles.items())
    )
    workflows = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
    run(programs / "check-jsonschema", "--builtin-schema", "vendor.github-workflows", *workflows, cwd=folder)
    wheels = [count_wheels(folder, platform) for platform in PLATFORMS]
    yield Row(
        "image",
        "",
        "without Docker: its files, its command, its health check",
        f"{run_image(folder)}; {', '.join(wheels)}",
    )


def check_chart(trial: Trial, programs: Path, folder: Path) -> str:
    """Render the packed chart with its own and with other values, and check what comes of it. Returns a sentence."""
    plain = re.sub(r"\A(?:#.*\n)+", "", (DEPLOY / "kubernetes.yaml").read_text())
    for values in ({}, OWN_VALUES):
        rendered = run(programs / "python", "-c", RENDER, trial.built.chart, json.dumps(values), cwd=folder)
        assert values or rendered == plain, "kubernetes.yaml is what the chart makes of its own values"
        assert all(str(value) in rendered for value in values.values())
        (folder / "rendered.yaml").write_text(rendered)
        for version in KUBERNETES:
            run(programs / "kubernetes-validate", "--strict", "-k", version, "rendered.yaml", cwd=folder)
    for wrong in ({"webReplicas": "two"}, {"domian": "docs.acme.example"}):
        try:
            run(programs / "python", "-c", RENDER, trial.built.chart, json.dumps(wrong), cwd=folder)
        except subprocess.CalledProcessError:
            continue
        raise AssertionError(f"the chart takes {wrong}")
    return f"{len(list(yaml.safe_load_all(plain)))} objects, the same as kubernetes.yaml; wrong values refused"


def count_wheels(folder: Path, platform: str) -> str:
    """Let pip find the locked packages for the Python of the image on a platform, where nothing can be compiled."""
    image = (ROOT / "Dockerfile").read_text()
    (version,) = re.findall(r"^FROM python:([\d.]+)-", image, re.MULTILINE)
    tags = [
        f"{form}_{PLATFORMS[platform]}" for form in ("manylinux_2_28", "manylinux2014", "manylinux_2_17", "manylinux1")
    ]
    options = ["--quiet", "--dry-run", "--no-deps", "--require-hashes", "--only-binary", ":all:"]
    options += ["--python-version", version, "--implementation", "cp", "--target", "packages"]
    options += [word for tag in tags for word in ("--platform", tag)]
    report = folder / f"{platform}.json"
    requirements = ROOT / "requirements.txt"
    run(folder / "venv/bin/pip", "install", *options, "--report", report, "-r", requirements, cwd=folder)
    return f"{len(json.loads(report.read_text())['install'])} wheels for {platform}"


def run_image(folder: Path) -> str:
    """Run the command of the image on the files that it has, until its health check passes. Returns a sentence."""
    app = folder / "app"
    ignored = [line.strip() for line in (ROOT / ".dockerignore").read_text().splitlines()]
    files = run("git", "ls-files", cwd=ROOT).splitlines()
    for name in files:
        if not any(Path(name).match(line) or name == line or name.startswith(f"{line}/") for line in ignored):
            (app / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, app / name)
    shutil.copytree(ROOT / "static/widget/dist", app / "static/widget/dist")
    assert not (app / "tests").exists()
    image = (ROOT / "Dockerfile").read_text()
    check, command = (
        json.loads(words) for words in re.findall(r"^(?:HEALTHCHECK .* )?CMD (\[.+\])$", image, re.MULTILINE)
    )
    with socket.socket() as probe:  # on all addresses, as the image listens
        probe.bind(("0.0.0.0", 0))
        port = probe.getsockname()[1]
    environment = clean_environment(DATA_DIR=str(folder / "data"), PORT=str(port), ALLOWED_HOSTS="127.0.0.1")
    environment["PATH"] = f"{Path(sys.executable).parent}:{environment['PATH']}"
    process = subprocess.Popen(command, cwd=app, env=environment, stdout=subprocess.DEVNULL)
    try:
        ends = time.monotonic() + SECONDS
        while subprocess.call(check, cwd=app, env=environment, stderr=subprocess.DEVNULL):
            assert process.poll() is None, "the command of the image ended"
            assert time.monotonic() < ends
            time.sleep(1)
    finally:
        process.terminate()
        process.wait(SECONDS)
    return "became healthy"

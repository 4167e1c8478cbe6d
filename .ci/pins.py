"""Writes what tags name today beside them: digests of base images, and commits of actions.

`make pins` runs it. It asks Docker Hub and GitHub (or the servers that REGISTRY and GITHUB_API name), and changes
nothing unless all have answered.
"""

import json
import os
import re
import sys
from pathlib import Path
from urllib.error import HTTPError
from urllib.parse import urlencode
from urllib.request import Request, urlopen

REGISTRY = os.environ.get("REGISTRY", "https://registry-1.docker.io")
GITHUB_API = os.environ.get("GITHUB_API", "https://api.github.com")
SECONDS = 20

IMAGE = re.compile(
    r"^((?:FROM(?: --platform=\S+)?| *image:) )([\w.-]+:[\w.-]+)(?:@sha256:[0-9a-f]{64})?(?=\s)", re.MULTILINE
)
ACTION = re.compile(r"(uses: )([\w.-]+/[\w.-]+@)(?:[0-9a-f]{40} # )?(v[\w.]+)")
INDEXES = "application/vnd.oci.image.index.v1+json, application/vnd.docker.distribution.manifest.list.v2+json"


def find_digest(image: str) -> str:
    """The digest of an official image for all its platforms."""
    name, _, tag = image.partition(":")
    request = Request(f"{REGISTRY}/v2/library/{name}/manifests/{tag}", headers={"Accept": INDEXES}, method="HEAD")
    try:
        response = urlopen(request, timeout=SECONDS)
    except HTTPError as refusal:
        challenge = dict(re.findall(r'(\w+)="([^"]*)"', refusal.headers.get("WWW-Authenticate", "")))
        if refusal.code != 401 or "realm" not in challenge:
            raise
        realm = challenge.pop("realm")
        with urlopen(f"{realm}?{urlencode(challenge)}", timeout=SECONDS) as answer:
            request.add_header("Authorization", f"Bearer {json.load(answer)['token']}")
        response = urlopen(request, timeout=SECONDS)
    return check(image, response.headers.get("Docker-Content-Digest", ""), r"sha256:[0-9a-f]{64}")


def find_commit(action: str) -> str:
    """The commit of an action's tag, such as `actions/checkout@v4`."""
    repository, _, tag = action.partition("@")
    request = Request(
        f"{GITHUB_API}/repos/{repository}/commits/{tag}", headers={"Accept": "application/vnd.github.sha"}
    )
    with urlopen(request, timeout=SECONDS) as answer:
        return check(action, answer.read().decode().strip(), r"[0-9a-f]{40}")


def check(name: str, found: str, form: str) -> str:
    """What was found. Raises ValueError if it has another form."""
    if not re.fullmatch(form, found):
        raise ValueError(f"the answer for {name} is {found[:100]!r}")
    return found


def main() -> None:
    """Write the pins into the files below the working folder."""
    files = [Path("Dockerfile"), Path("docsite/deploy/compose.yaml"), *sorted(Path(".github/workflows").glob("*.yml"))]
    try:
        pinned = {}
        for file in files:
            text = file.read_text()
            text = IMAGE.sub(lambda found: f"{found[1]}{found[2]}@{find_digest(found[2])}", text)
            pinned[file] = ACTION.sub(
                lambda found: f"{found[1]}{found[2]}{find_commit(found[2] + found[3])} # {found[3]}", text
            )
    except (OSError, ValueError, KeyError) as failure:
        sys.exit(f"Nothing was changed, since something could not be looked up: {failure}")
    for file, text in pinned.items():
        file.write_text(text)


if __name__ == "__main__":
    main()

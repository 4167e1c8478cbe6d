"""The code on the page "Pages for some readers" makes tokens that the service takes."""

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from docsite.core.access import reader_tokens
from docsite.core.access.reader_tokens import find_groups
from docsite.core.access.readers import MAX_GROUPS, MAX_NAME
from docsite.core.tenants.models import ReaderKey
from docsite.site import navigation
from search.indexing.ingest import ingest
from search.sources import Page
from tests.conftest import PATIENCE

PAGE = navigation.pages()["pages-for-some-readers"].body


@pytest.fixture
def key(make_project: Any) -> ReaderKey:
    tenant = make_project()
    ingest(tenant.project, [Page("a", "/install", "# Install\n\nInstall it.", groups=("staff",))])
    key = ReaderKey.objects.create(project=tenant.project, algorithm="HS256")
    key.tenant = tenant  # type: ignore[attr-defined]
    return key


def snippet(heading: str, language: str, number: int = 0, **replaced: str) -> str:
    code = re.findall(rf"```{language}\n(.*?)```", PAGE.partition(f"### {heading}\n")[2], re.DOTALL)[number]
    for old, new in replaced.items():
        code = re.sub(rf"(?m)^((?:const )?{old}\s?=\s?)[\"']?[^\s\"';]+[\"']?", rf"\g<1>'{new}'", code)
    return str(code)


def run(command: list[str], code: str) -> str:
    done = subprocess.run(command, input=code, capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_python_makes_a_token(key: ReaderKey) -> None:
    code = snippet("In Python", "python", KEY_ID=key.kid, SECRET=key.secret)
    token = run([sys.executable, "-"], f"{code}\nprint(reader_token(['staff'], '{key.project.domain}'))")
    assert find_groups(key.project, token) == {"staff"}


@pytest.mark.node
def test_node_makes_a_token(key: ReaderKey) -> None:
    code = snippet("In Node.js", "js", KEY_ID=key.kid, SECRET=key.secret)
    code += f"\nconsole.log(readerToken(['staff'], '{key.project.domain}'));"
    token = run(["node", "--input-type=module", "-"], code)
    assert find_groups(key.project, token) == {"staff"}


def test_a_shell_makes_a_token_and_searches_with_it(key: ReaderKey, service: Any) -> None:
    tenant: Any = key.tenant  # type: ignore[attr-defined]
    make = snippet("In a shell", "sh", KEY_ID=key.kid, SECRET=key.secret).replace('"acme"', f'"{tenant.domain}"')
    search = snippet("In a shell", "sh", 1).replace("https://docs-service.example.com", service.url)
    search = search.replace("/search/acme", f"/search/{tenant.domain}").replace("curl ", "curl -sS ", 1)
    found = run(["sh", "-s"], f"ASSISTANT_KEY={tenant.assistant_key}\n{make}\n{search}")
    assert '"path": "/install"' in found
    public = search.replace(' -H "X-Reader-Token: $TOKEN"', "")
    assert run(["sh", "-s"], f"ASSISTANT_KEY={tenant.assistant_key}\n{public}") == "[]"


def test_a_key_pair_of_openssl_makes_a_token(key: ReaderKey, tmp_path: Path) -> None:
    import jwt

    from docsite.core.workspace.reader_keys import normalize_public_key

    commands = snippet("A key pair of yours", "sh")
    public = run(["sh", "-s"], f"cd {tmp_path}\n{commands}")
    own = ReaderKey.objects.create(
        project=key.project, algorithm="EdDSA", public_key=normalize_public_key(public[public.index("-----") :])
    )
    claims = {"aud": key.project.domain, "exp": 2**31, "groups": ["staff"]}
    import time

    claims["exp"] = int(time.time()) + 900
    sign = re.search(r"jwt\.encode\(.+?\}\)", PAGE.partition("### A key pair")[2])[0]
    sign = sign.replace('"reader-key.pem"', repr(str(tmp_path / "reader-key.pem")))
    token = eval(sign, {"jwt": jwt, "claims": claims, "KEY_ID": own.kid})
    assert find_groups(key.project, token) == {"staff"}


def test_the_limits_are_those_of_the_code() -> None:
    assert f"at most {MAX_GROUPS} texts" in PAGE
    assert f"1 to {MAX_NAME} characters" in PAGE
    assert f"at most {reader_tokens.MAX_SECONDS // 3600} hours ahead" in PAGE
    assert f"differ by {reader_tokens.LEEWAY} seconds" in PAGE
    assert f"at most {reader_tokens.MAX_SUBJECT} characters" in PAGE
    assert reader_tokens.READER_TOKEN_HEADER in PAGE

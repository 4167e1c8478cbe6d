"""Requests for every operation: as the OpenAPI document allows, as it forbids, and with changed bytes."""

import json
from collections.abc import Iterator
from random import Random
from typing import Any
from urllib.parse import quote, urlencode

import schemathesis
from hypothesis import HealthCheck, Phase, given, seed, settings
from requests import PreparedRequest, Request
from schemathesis import Case, GenerationMode

from tests.conftest import Tenant
from tests.fuzz import mutations

READER = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"
PATHS = ["%00", "%ff", "%2f", "..", "%0d%0a", "a" * 3_000, quote("日本"), "%F0%9F%91%A9", "-", "*", "%25", "%20"]
HEADERS = [
    {"Content-Type": "text/plain"},
    {"Content-Type": "multipart/form-data; boundary=x"},
    {"Content-Type": "application/x-www-form-urlencoded"},
    {"Content-Type": "application/json; charset=utf-16"},
    {"Content-Type": "application/json; charset=\x7f"},
    {"Content-Type": ""},
    {"Content-Encoding": "gzip"},
    {"Accept": "text/html;q=x, */*"},
    {"Accept-Language": ",".join(f"x-{number};q=0.{number}" for number in range(200))},
    {"Origin": "null"},
    {"Origin": "https://" + "a" * 2_000},
    {"Cookie": "docs_session=" + "x" * 500 + "; ="},
    {"User-Agent": "\xff\xfe" * 300},
    {"X-Forwarded-For": "1.2.3.4, ::ffff:1.2.3.4, x"},
    {"Referer": "http://[::1"},
    {"Authorization": "Bearer"},
    {"Authorization": "Bearer svc_" + "x" * 4_000},
]
Label = tuple[str, str]  # method and path template of an operation


class Generator:
    """Makes requests to one service, with the keys of one tenant. The same seed makes the same requests."""

    def __init__(self, document: dict[str, Any], tenant: Tenant, start: int) -> None:
        self._schema = schemathesis.openapi.from_dict(document)
        self._url = document["servers"][0]["url"]
        self._tenant = tenant
        self._seed = start
        self._random = Random(start)

    def requests(self, count: int) -> Iterator[tuple[Label, PreparedRequest]]:
        """About this many requests, each with its operation."""
        operations = [found.ok() for found in self._schema.get_all_operations()]
        share = max(1, count // (3 * len(operations)))
        for operation in operations:
            label = (operation.method.upper(), operation.path)
            allowed = self._cases(operation, GenerationMode.POSITIVE, share)
            forbidden = self._cases(operation, GenerationMode.NEGATIVE, share)
            for case in [*allowed, *forbidden]:
                yield label, self._prepare(case)
            examples = self._examples(operation)
            for _ in range(3 * share - len(allowed) - len(forbidden)):
                base = self._random.choice(examples if examples and self._random.random() < 0.6 else allowed)
                yield label, self._mutate(self._prepare(base))

    def _cases(self, operation: Any, mode: GenerationMode, count: int) -> list[Case]:
        cases: list[Case] = []

        @seed(self._seed)
        @settings(
            max_examples=count,
            database=None,
            deadline=None,
            phases=[Phase.generate],
            suppress_health_check=list(HealthCheck),
        )
        @given(operation.as_strategy(generation_mode=mode))
        def collect(case: Case) -> None:
            cases.append(case)

        if mode is GenerationMode.POSITIVE or operation.method == "post" or operation.query:
            collect()
        return cases

    def _examples(self, operation: Any) -> list[Case]:
        """The example of the operation's body, which gets a successful response."""
        content = operation.definition.raw.get("requestBody", {}).get("content", {})
        names = [kind["schema"]["$ref"].rpartition("/")[2] for kind in content.values() if "$ref" in kind["schema"]]
        schemas = self._schema.raw_schema["components"]["schemas"]
        parameters = {parameter.name: "x" for parameter in operation.path_parameters}
        return [
            operation.Case(path_parameters=dict(parameters), media_type="application/json", body=body)
            for name in names
            for body in schemas[name]["examples"]
        ]

    def _prepare(self, case: Case) -> PreparedRequest:
        """The request of a case, for the tenant's project and with its key. Sometimes not."""
        security = case.operation.definition.raw["security"]
        key = self._tenant.admin if security == [{"AdminKey": []}] else self._tenant.assistant
        own = {"domain": self._tenant.domain, "projectId": self._tenant.project_id}
        if self._random.random() < 0.95:
            case.path_parameters |= {name: value for name, value in own.items() if name in case.path_parameters}
        arguments = case.as_transport_kwargs(self._url)
        headers = {**arguments.pop("headers"), "User-Agent": READER, "Origin": self._url}
        for name in ("Authorization", "X-Schemathesis-TestCaseId"):
            headers.pop(name, None)
        if self._random.random() < 0.95:
            headers |= key
        for name in ("cookies", "auth", "verify", "cert", "timeout", "proxies", "stream", "allow_redirects"):
            arguments.pop(name, None)
        headers = {name: value.encode("utf-8", "ignore") for name, value in headers.items()}
        return Request(**arguments, headers=headers).prepare()

    def _mutate(self, request: PreparedRequest) -> PreparedRequest:
        random = self._random
        kind = random.random()
        if kind < 0.15:
            request.headers.update({k: v.encode("latin-1") for k, v in random.choice(HEADERS).items()})
        if kind < 0.1:
            head, _, tail = request.url.rpartition("/")
            request.url = (
                f"{head}/{random.choice(PATHS)}" if random.random() < 0.5 else f"{head}/{tail}/{random.choice(PATHS)}"
            )
        elif request.method == "POST":
            self._mutate_body(request)
        else:
            names = ["dateFrom", "dateTo", "limit", "offset", "cursor", "status", "source", "x"]
            values = [value for value in mutations.VALUES if not isinstance(value, str) or len(value) < 2_000]
            pairs = [
                (random.choice(names), str(random.choice(values))[:2_000].encode("utf-8", "surrogatepass"))
                for _ in range(random.choice([1, 2, 3, 40]))
            ]
            request.url = f"{request.url.partition('?')[0]}?{urlencode(pairs)}"[:8_000]
        return request

    def _mutate_body(self, request: PreparedRequest) -> None:
        raw = request.body if isinstance(request.body, bytes) else (request.body or "").encode()
        try:
            value = json.loads(raw)
        except ValueError:
            value = {}
        if self._random.random() < 0.6:
            for _ in range(self._random.randint(1, 3)):
                value = mutations.mutate_value(self._random, value)
            raw = mutations.write_json(value)
        else:
            raw = mutations.mutate_bytes(self._random, raw)
        if self._random.random() < 0.01:
            raw += b" " * self._random.choice([64 * 1024, 128 * 1024, 2 * 1024 * 1024])
        request.body = raw
        request.headers["Content-Length"] = str(len(raw))

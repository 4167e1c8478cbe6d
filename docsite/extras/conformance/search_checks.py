"""Checks of search, page content and the errors that all operations share. Each raises `Violation`."""

from typing import Any

from docsite.extras.conformance.service import Check, Service, expect, expect_error, expect_shape, load_json

SEARCH, MESSAGE = "/v1/search/{domain}", "/v1/assistant/{domain}/message"


def check_missing_key(service: Service) -> None:
    """A request without a key is refused with 401"""
    expect_error(service.post(SEARCH, {"query": "install"}, key=""), 401)
    expect_error(service.post(MESSAGE, {"fp": "anonymous", "messages": []}, key=""), 401)


def check_wrong_key(service: Service) -> None:
    """An unknown key is refused with 401"""
    expect_error(service.post(SEARCH, {"query": "install"}, key=service.key[:-4] + "0000"), 401)


def check_other_domain(service: Service) -> None:
    """A domain that is not the key's is refused with 403 or 404"""
    expect_error(service.post("/v1/search/conformance-no-such-site", {"query": "install"}), 403, 404)


def check_broken_json(service: Service) -> None:
    """A body that is not JSON is refused with 400"""
    expect_error(service.post(SEARCH, b'{"query": '), 400)


def check_field_names(service: Service) -> None:
    """A value out of bounds is refused with 400 and the field's name"""
    for name, value in (("pageSize", 51), ("pageSize", 0), ("scoreThreshold", 1.5), ("query", None)):
        expect_error(service.post(SEARCH, {"query": "install", name: value}), 400, naming=name)


def check_message_fields(service: Service) -> None:
    """A message without `fp`, or with a `currentPath` of 201 characters, is refused with 400 and the field's name"""
    expect_error(service.post(MESSAGE, {"messages": []}), 400, naming="fp")
    long_path = {"fp": "anonymous", "messages": [], "currentPath": "/" + "x" * 200}
    expect_error(service.post(MESSAGE, long_path), 400, naming="currentPath")


def check_preflight(service: Service) -> None:
    """OPTIONS is answered without a key"""
    address = "/discovery" + MESSAGE.format(domain=service.domain)
    headers = {"Origin": str(service.client.base_url).rstrip("/"), "Access-Control-Request-Method": "POST"}
    status = service.client.options(address, headers=headers).status_code
    expect(status in (200, 204), f"status {status}")


def check_results(service: Service) -> None:
    """Search answers an array of results with `content`, `path` and `metadata`"""
    for hit in _search(service):
        expect_shape(hit, {"content": str, "path": str, "metadata": dict}, "a result")


def check_page_size(service: Service) -> None:
    """`pageSize` is the most results that come"""
    found = len(_search(service, pageSize=1))
    expect(found <= 1, f"{found} results")


def check_scores(service: Service) -> None:
    """`score` is from 0 to 1, the highest first, and none is below `scoreThreshold`"""
    scores = [hit["metadata"].get("score") for hit in _search(service)]
    expect(all(isinstance(score, float | int) and 0 <= score <= 1 for score in scores), f"scores {scores}")
    expect(scores == sorted(scores, reverse=True), f"scores {scores}")
    middle = scores[len(scores) // 2]
    above = [hit["metadata"]["score"] for hit in _search(service, scoreThreshold=middle)]
    expect(all(score >= middle for score in above), f"threshold {middle}, scores {above}")


def check_page_content(service: Service) -> None:
    """A page that search found can be read as Markdown; 404 for no such page"""
    path = _search(service)[0]["path"]
    response = service.post("/v1/page/{domain}", {"path": path})
    expect(response.status_code == 200, f"status {response.status_code} for {path}")
    expect_shape(load_json(response), {"path": str, "content": str}, "a page")
    expect_error(service.post("/v1/page/{domain}", {"path": "/conformance/no/such/page"}), 404)


def _search(service: Service, **changes: Any) -> list[Any]:
    response = service.post(SEARCH, {"query": service.question, **changes})
    expect(response.status_code == 200, f"status {response.status_code}: {response.text[:200]}")
    hits = load_json(response)
    expect(isinstance(hits, list), "no array")
    expect(hits, f"nothing was found for “{service.question}”; choose words of the site with --question")
    return list(hits)


ERRORS: tuple[Check, ...] = (
    *(check_missing_key, check_wrong_key, check_other_domain, check_broken_json, check_field_names),
    *(check_message_fields, check_preflight),
)
SEARCHES: tuple[Check, ...] = (check_results, check_page_size, check_scores, check_page_content)

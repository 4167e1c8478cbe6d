"""Messages of the view log, without NATS. `tests/services/view_log` has the rest."""

import pytest

from analytics.audience import Dimensions
from analytics.collecting.writer import Facts, View
from docsite.extras.view_log import messages

FACTS = Facts("ai_user", "md", "ChatGPT-User", "OpenAI", "yes", "name", 7, "https://example.com", "agent", False)


def view(key: int, path: str = "/é", network: str = "192.0.2.0") -> View:
    dimensions = Dimensions(channel="search", language="fr")
    return View(key, 1_790_000_000_000_000, path, True, -(2**63), FACTS, dimensions, network)


def test_a_message_has_the_views_as_the_writer_takes_them_without_a_network():
    views = [view(2**63 - 1), view(-(2**63), network="")]
    (message,) = messages.encode("p7", views)
    project_id, decoded = messages.decode(message.body)
    assert project_id == "p7"
    assert [seen._replace(network="") for seen in decoded] == [seen._replace(network="") for seen in views]
    assert [bool(seen.network) for seen in decoded] == [True, False]
    assert b"192.0.2" not in message.body
    (again,) = messages.encode("p7", [view(1)])
    assert messages.decode(again.body)[1][0].network == decoded[0].network, "the same reader is known"


def test_large_batches_are_split_and_equal_ones_have_equal_ids():
    views = [view(number, f"/{'x' * 2_000}-{number}") for number in range(1_000)]
    parts = list(messages.encode("p7", views))
    assert max(len(part.body) for part in parts) <= messages.MAX_BYTES
    assert [seen for part in parts for seen in part.views] == views
    assert [seen.key for part in parts for seen in messages.decode(part.body)[1]] == [*range(1_000)]
    ids = [part.message_id for part in parts]
    assert len(set(ids)) == len(ids) > 1
    assert [part.message_id for part in messages.encode("p7", views)] == ids
    assert next(messages.encode("p8", views)).message_id != ids[0]


@pytest.mark.parametrize("body", [b"", b"{}", b"[]", b'["p7"]', b'["p7", [["no view"]]]', b"\xff"])
def test_what_is_no_message_is_a_value_error(body):
    with pytest.raises(ValueError):  # noqa: PT011  # its subclasses belong to the parser
        messages.decode(body)

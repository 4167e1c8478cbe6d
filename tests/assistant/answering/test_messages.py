"""The messages of a model's requests, which are long, are in memory only while a request needs them."""

import gc
import weakref

from assistant.answering.prompts import Messages


class Message(dict):
    pass


def test_the_first_messages_are_gone_after_the_request_and_come_back_for_the_next():
    built = []

    def build():
        message = Message(role="user", content="x" * 400)
        built.append(weakref.ref(message))
        return [message]

    messages = Messages(build)
    assert messages.estimate_tokens() == 101
    assert [message["role"] for message in messages] == ["user"], "the request of the estimate"
    gc.collect()
    assert [reference() for reference in built] == [None]
    messages.append({"role": "assistant", "content": "call"})
    assert messages.estimate_tokens() > 101
    assert [message["role"] for message in messages] == ["user", "assistant"]
    assert [message["role"] for message in messages] == ["user", "assistant"], "a retry"
    assert len(built) == 3

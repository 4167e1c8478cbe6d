"""A file of questions: what a line may hold, and how a wrong line is named."""

import json

import pytest

from assistant.evaluation.questions import InvalidLine, load_file


def write(folder, *lines):
    file = folder / "questions.jsonl"
    file.write_text("\n".join(line if isinstance(line, str) else json.dumps(line) for line in lines))
    return file


def test_a_line_has_a_question_and_what_its_answer_must_be(tmp_path):
    line = {
        "id": 7,
        "question": " How do I install it? ",
        "must": ["pip install"],
        "pages": ["/install"],
        "fact": "With pip.",
        "corpus": "acme",
        "history": [["user", "What is acme?"], ["assistant", "A box."]],
        "currentPath": "/install",
        "context": [{"value": "pip", "path": "/install"}],
        "anything": {"else": 1},
    }
    (question,) = load_file(write(tmp_path, line, ""))
    assert (question.id, question.text, question.domain, question.expected) == (
        "7",
        "How do I install it?",
        "acme",
        "With pip.",
    )
    assert [pattern.pattern for pattern in question.must] == ["pip install"]
    assert question.answerable
    assert [message.text for message in question.ask.messages] == ["What is acme?", "A box.", "How do I install it?"]
    assert question.ask.currentPath == "/install"
    assert question.ask.context
    assert question.ask.context[0].value == "pip"


def test_expected_and_domain_are_preferred_to_fact_and_corpus(tmp_path):
    line = {"question": "a", "expected": "b", "fact": "c", "domain": "d", "corpus": "e"}
    (question,) = load_file(write(tmp_path, line))
    assert (question.expected, question.domain, question.id) == ("b", "d", "a")


def test_no_pages_stand_for_a_refusal_as_in_golden_questions(tmp_path):
    lines = [
        {"question": "a"},
        {"question": "b", "pages": []},
        {"question": "c", "pages": [], "must": ["x"]},
        {"question": "d", "answerable": False, "pages": ["/x"]},
        {"question": "e", "answerable": True, "pages": []},
    ]
    assert [question.answerable for question in load_file(write(tmp_path, *lines))] == [True, False, True, False, True]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("{", "not JSON (Expecting property name"),
        ("[]", "must be a JSON object"),
        ({}, "question: must be text"),
        ({"question": 3}, "question: must be text"),
        ({"question": "x" * 40_000}, "question: the last message has more than 32000 characters"),
        ({"question": "x", "id": ["x"]}, "id: must be text of at most 100 characters"),
        ({"question": "x", "must": "x"}, "must: must be a list of texts"),
        ({"question": "x", "must": ["("]}, "must: “(” is no regular expression (missing )"),
        ({"question": "x", "must": ["x" * 1001]}, "must: a pattern has more than 1000 characters"),
        ({"question": "x", "must": ["x{99999999999}"]}, "must: “x{99999999999}” is no regular expression"),
        ({"question": "x", "pages": [1]}, "pages: must be a list of texts"),
        ({"question": "x", "answerable": "no"}, "answerable: must be true or false"),
        ({"question": "x", "fact": 1}, "fact: must be text"),
        ({"question": "x", "corpus": 1}, "corpus: must be text"),
        ({"question": "x", "history": [["system", "x"]]}, 'history: must be a list of turns, each ["user", text]'),
        ({"question": "x", "history": ["user", "x"]}, "history: must be a list of turns"),
        ({"question": "x", "currentPath": 1}, "currentPath: Input should be a valid string"),
        ({"question": "x", "context": [{"path": "/"}]}, "context: Field required"),
        ({"question": "first"}, "id: “first” is in the file already"),
    ],
)
def test_a_wrong_line_is_named_with_its_field(tmp_path, line, message):
    with pytest.raises(InvalidLine) as wrong:
        load_file(write(tmp_path, {"question": "first"}, "", line))
    assert str(wrong.value).startswith(f"line 3: {message}")

"""`ask_docs`: an answer with checked citations, made by the same pipeline as the assistant's."""

from contextlib import aclosing

from pydantic import BaseModel, Field

from analytics import agents
from assistant.answering.pipeline import SORRY
from assistant.answering.question import Question
from assistant.answering.record import CutBy, Outcome
from assistant.asking.askers import identify_asker
from assistant.asking.rate_limits import assistant_charges
from assistant.asking.schemas import MAX_TEXT
from assistant.asking.start import start_answer
from assistant.conversations.outcomes import ANSWERED
from assistant.models import Message
from docsite.core.http.errors import Unavailable
from docsite.core.http.schemas import NonBlank
from docsite.extras.mcp.tools.tool import Output, Tool, ToolContext


class Arguments(BaseModel):
    """What to ask."""

    question: NonBlank = Field(
        max_length=MAX_TEXT, description="One complete question. It must be understood without an earlier one."
    )


class Source(BaseModel):
    """A page that the answer cites."""

    number: int = Field(description="The number of its citations in the answer.")
    title: str
    url: str


class Answer(BaseModel):
    """An answer."""

    answer: str = Field(description="Markdown. Each citation is a link such as [1](address).")
    isAnswered: bool = Field(description="False if the documentation does not answer the question, or perhaps not.")
    cutBy: CutBy = Field(description="Why the answer ends too early. Empty: it does not.")
    sources: list[Source] = Field(description="The cited pages.")
    messageId: str = Field(description="Id of the answer, for give_feedback.")


async def _call(context: ToolContext, arguments: Arguments) -> Output:
    await context.spend(assistant_charges(context.caller))
    question = Question(
        arguments.question.strip(),
        identify_asker(context.caller, "anonymous", context.origin),
        caller=Message.Caller.MCP,
        agent=agents.classify(context.user_agent).agent,
    )
    running = await start_answer(context.caller.project, question)
    async with aclosing(running.subscribe()) as events:  # if the agent leaves, the answer ends
        async for _ in events:
            pass
    if running.outcome.state != "done":
        raise Unavailable(SORRY)
    answer = _describe(running.outcome, running.message_id)
    return Output(_format(answer), answer)


def _describe(outcome: Outcome, message_id: str) -> Answer:
    sources = [Source(number=source.number, title=source.title, url=source.url) for source in outcome.sources]
    return Answer(
        answer=outcome.text,
        isAnswered=outcome.kind in ANSWERED,
        cutBy=outcome.cut_by,
        sources=sources,
        messageId=message_id,
    )


def _format(answer: Answer) -> str:
    listed = "\n".join(f"[{source.number}] {source.title}: {source.url}" for source in answer.sources)
    cut = f"This answer is cut ({answer.cutBy.replace('_', ' ')})." if answer.cutBy else ""
    parts = [answer.answer, cut, f"Sources:\n{listed}" if listed else "", f"Message id: {answer.messageId}"]
    return "\n\n".join(part for part in parts if part)


TOOL = Tool(
    "ask_docs",
    "Ask the documentation",
    "Ask this documentation a question. Returns an answer that rests on its pages only, with citations that were "
    "checked against the cited text, or says that the documentation has no answer. It may take some seconds. Use it "
    "for questions of how and why; use search_docs to look something up.",
    Arguments,
    Answer,
    _call,
)

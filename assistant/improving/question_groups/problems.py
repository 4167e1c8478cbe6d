"""Why an answer perhaps did not help its reader."""

from assistant.models import GroupedQuestion, Message

Problem = GroupedQuestion.Problem
_PROBLEMS = {
    Message.Outcome.REFUSED: Problem.REFUSED,
    Message.Outcome.CLOSEST_PASSAGES: Problem.CLOSEST_PASSAGES,
    Message.Outcome.UNSUPPORTED: Problem.UNSUPPORTED,
    Message.Outcome.FAILED: Problem.FAILED,
}


def problem_of(answer: Message, helpful: bool | None) -> str | None:
    """Why an answer perhaps did not help its reader; None if it did.

    A reader who stops an answer that already cites a page may have read enough.
    """
    if helpful is False:
        return Problem.DISLIKED
    if answer.outcome == Message.Outcome.CUT:
        left = answer.cut_by in (Message.CutBy.READER, Message.CutBy.CONNECTION)
        return None if left and answer.sources else Problem.CUT
    return _PROBLEMS.get(Message.Outcome(answer.outcome)) if answer.outcome else None

"""Replay: what a change of the pages does to the questions that readers really asked, before it is published.

`asked` finds the questions, `answers` asks one index, `comparison` compares two, and `comment` writes it as Markdown.
`closing` closes the gaps that a push answers, and `held` says later whether that has held. No model is needed.
`surfaces` says which surface is the first that loses the fact of a golden question.
`certainty` fits the threshold of such answers, and `models` has what owners judged.
"""

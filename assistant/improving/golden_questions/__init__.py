"""Golden questions: questions with the pages that their answers must cite, and a fact that these must tell.

`checks` asks them without a model and compares pages; ingests use it. `evaluation` asks them as readers do, where
`judge` lets a model compare facts, `scoring` scores each answer, and `report` has the figures of a run and its
comparison with an earlier one. `lines` reads and writes them as JSON lines. Other apps put into `audits` what they
look at after a run.
"""

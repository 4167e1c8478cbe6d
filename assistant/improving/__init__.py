"""What readers ask, what the documentation does not answer, and whether answers stay right.

Others import `gaps` (questions without an answer, and what an owner does about them), `question_groups` (questions
with the same meaning, and the answers that owners pin to them), `golden_questions` (questions whose answers are
known) and `index_effects` (what a new index would change).
"""

"""Groups of questions with the same meaning. No model is needed: the words decide, and vectors where there are some.

Others import `wording` (how alike two questions are), `grouping` (bring new questions into groups), `thumbs` (what
readers thought of an answer) and `pins` (the owner's own answer to the questions of a group).
"""

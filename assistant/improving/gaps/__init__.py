"""What readers ask and the documentation does not answer: reports, and what an owner does about it.

Others import `report`, `group_report` and `questions` (the numbers of the pages), `actions` (what an owner does
about a group), `asking_again` (ask again what is fixed) and `background` (the thread that groups and asks again).
"""

"""The postings of an index as arrays: which sections hold a term, in which fields, how often; with facts for scoring.

One engine and one formula on every database. Others import `segments` (arrays of some sections), `search_index` (the
segments of a project as one: candidates and their facts) and `storage` (segments as rows and files).
"""

"""Sentence vectors: the meaning of sections and questions, as one more feature for ranking. Search works without them.

Others import `nearest` (the vector of a question, and its similarity to sections), `texts` (the digest of a section),
`embedding` (make the vectors of a project), `background` (start and stop the thread that does so), `registry` (the
configured model) and `embedders` (its type and errors).
"""

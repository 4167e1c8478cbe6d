"""The tables of search, one module for each subject. Import the models from here."""

from search.models.index import Generation, Index, SectionVector, SegmentPart, VectorIndex
from search.models.pages import Document, PageWords, Redirect, Section
from search.models.searches import SearchQuery
from search.models.settings import SearchSettings
from search.models.sources import PushedFile, Source, validate_groups
from search.models.visibility import is_indexed, is_visible

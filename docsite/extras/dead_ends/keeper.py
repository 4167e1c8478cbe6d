"""What the rest of the service uses of dead ends."""

from docsite.extras.dead_ends import recording, redirects
from search.missing_pages import Keeper

KEEPER = Keeper(recording.record, recording.flush, redirects.find_replacement)

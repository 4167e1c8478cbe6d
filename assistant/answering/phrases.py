"""The sentences that the service itself writes into answers, in the language of the pages that were found."""

import re
from collections.abc import Sequence
from typing import NamedTuple

from search.hits import Hit

_MARKDOWN_SIGN = re.compile(r"[\\`*\[\]<>|~]|(?<!\w)_|_(?!\w)|&(?=[#\w])|(?<=\w):(?=//)|^[#>+-](?=\s)")


class Phrases(NamedTuple):
    """The sentences of one language. `support` has a placeholder `{link}`."""

    no_answer: str
    nearest_pages: str
    support: str
    see_also: str


ENGLISH = Phrases(
    "I couldn't find this in the documentation.",
    "The nearest pages:",
    "You can also [ask for help]({link}).",
    "See also:",
)
OTHER_LANGUAGES = {
    "de": Phrases(
        "Das habe ich in der Dokumentation nicht gefunden.",
        "Die nächstliegenden Seiten:",
        "Sie können auch [um Hilfe bitten]({link}).",
        "Siehe auch:",
    ),
    "es": Phrases(
        "No he encontrado esto en la documentación.",
        "Las páginas más cercanas:",
        "También puede [pedir ayuda]({link}).",
        "Véase también:",
    ),
    "fr": Phrases(
        "Je n’ai pas trouvé cela dans la documentation.",
        "Les pages les plus proches :",
        "Vous pouvez aussi [demander de l’aide]({link}).",
        "Voir aussi :",
    ),
    "it": Phrases(
        "Non ho trovato questo nella documentazione.",
        "Le pagine più vicine:",
        "Può anche [chiedere aiuto]({link}).",
        "Vedi anche:",
    ),
    "nl": Phrases(
        "Dit heb ik niet in de documentatie gevonden.",
        "De dichtstbijzijnde pagina’s:",
        "U kunt ook [om hulp vragen]({link}).",
        "Zie ook:",
    ),
    "pt": Phrases(
        "Não encontrei isto na documentação.",
        "As páginas mais próximas:",
        "Também pode [pedir ajuda]({link}).",
        "Veja também:",
    ),
}


def choose_phrases(hits: Sequence[Hit]) -> Phrases:
    """The sentences in the language of the best hit; in English for every other language."""
    language = (hits[0].language or "") if hits else ""
    return OTHER_LANGUAGES.get(language[:2].lower(), ENGLISH)


def escape_markdown(text: str) -> str:
    """Escape a title or heading, so that Markdown shows its characters and nothing else."""
    return _MARKDOWN_SIGN.sub(r"\\\g<0>", " ".join(text.split()))

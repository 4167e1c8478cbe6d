"""What the service itself says in an answer, in the language of the pages that were found."""

from collections.abc import Sequence
from typing import NamedTuple

from search.hits import Hit


class Sentences(NamedTuple):
    """The sentences of one language; `help` has a place for the `{link}`."""

    unknown: str
    nearest: str
    help: str
    also: str


ENGLISH = Sentences(
    "I couldn't find this in the documentation.",
    "The nearest pages:",
    "You can also [ask for help]({link}).",
    "See also:",
)
OTHERS = {
    "de": Sentences(
        "Das habe ich in der Dokumentation nicht gefunden.",
        "Die nächstliegenden Seiten:",
        "Sie können auch [um Hilfe bitten]({link}).",
        "Siehe auch:",
    ),
    "es": Sentences(
        "No he encontrado esto en la documentación.",
        "Las páginas más cercanas:",
        "También puede [pedir ayuda]({link}).",
        "Véase también:",
    ),
    "fr": Sentences(
        "Je n’ai pas trouvé cela dans la documentation.",
        "Les pages les plus proches :",
        "Vous pouvez aussi [demander de l’aide]({link}).",
        "Voir aussi :",
    ),
    "it": Sentences(
        "Non ho trovato questo nella documentazione.",
        "Le pagine più vicine:",
        "Può anche [chiedere aiuto]({link}).",
        "Vedi anche:",
    ),
    "nl": Sentences(
        "Dit heb ik niet in de documentatie gevonden.",
        "De dichtstbijzijnde pagina’s:",
        "U kunt ook [om hulp vragen]({link}).",
        "Zie ook:",
    ),
    "pt": Sentences(
        "Não encontrei isto na documentação.",
        "As páginas mais próximas:",
        "Também pode [pedir ajuda]({link}).",
        "Veja também:",
    ),
}


def sentences(hits: Sequence[Hit]) -> Sentences:
    """Those of the best page's language; English where it names none, or one that is not here."""
    language = (hits[0].language or "") if hits else ""
    return OTHERS.get(language[:2].lower(), ENGLISH)

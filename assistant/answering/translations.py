"""The sentences that the service itself writes into answers, in the reader's language."""

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from search.hits import Hit
from search.text.language import detect_language, detect_page_language

_MARKDOWN_SIGN = re.compile(r"[\\`*\[\]<>|~]|(?<!\w)_|_(?!\w)|&(?=[#\w])|(?<=\w):(?=//)|^[#>+-](?=\s)")


class Phrases(NamedTuple):
    """The sentences of one language. `support` has a placeholder `{link}`, `other_language` one for a language."""

    no_answer: str
    unsupported: str
    repetition: str
    nearest_pages: str
    support: str
    see_also: str
    closest: str
    read_on: str
    greeting: str
    thanks: str
    about: str
    other_language: str
    languages: Mapping[str, str]


ENGLISH = Phrases(
    "I couldn't find this in the documentation.",
    "No page of the documentation could be found to support this answer.",
    "The answer ends here, because it had begun to repeat itself.",
    "The nearest pages:",
    "You can also [ask for help]({link}).",
    "See also:",
    "These passages come closest, but may not answer your question:",
    "Read on",
    "Hello! Ask me anything about this documentation.",
    "You’re welcome!",
    "I answer questions from the pages of this documentation, and say which pages I used. What would you like to know?",
    "The documentation is in {language}.",
    {
        "de": "German",
        "fr": "French",
        "es": "Spanish",
        "pt": "Portuguese",
        "it": "Italian",
        "nl": "Dutch",
        "ja": "Japanese",
    },
)
OTHER_LANGUAGES = {
    "de": Phrases(
        "Das habe ich in der Dokumentation nicht gefunden.",
        "Keine Seite der Dokumentation belegt diese Antwort.",
        "Die Antwort endet hier, weil sie sich nur noch wiederholte.",
        "Die nächstliegenden Seiten:",
        "Sie können auch [um Hilfe bitten]({link}).",
        "Siehe auch:",
        "Diese Abschnitte kommen Ihrer Frage am nächsten, beantworten sie aber vielleicht nicht:",
        "Weiterlesen",
        "Hallo! Fragen Sie mich etwas zu dieser Dokumentation.",
        "Gern geschehen!",
        "Ich beantworte Fragen aus den Seiten dieser Dokumentation und nenne die Seiten dazu. Was möchten Sie wissen?",
        "Die Dokumentation ist auf {language}.",
        {
            "en": "Englisch",
            "fr": "Französisch",
            "es": "Spanisch",
            "pt": "Portugiesisch",
            "it": "Italienisch",
            "nl": "Niederländisch",
            "ja": "Japanisch",
        },
    ),
    "es": Phrases(
        "No he encontrado esto en la documentación.",
        "Ninguna página de la documentación respalda esta respuesta.",
        "La respuesta termina aquí, porque solo se repetía.",
        "Las páginas más cercanas:",
        "También puede [pedir ayuda]({link}).",
        "Véase también:",
        "Estos pasajes son los más cercanos, pero quizá no respondan a su pregunta:",
        "Seguir leyendo",
        "¡Hola! Pregúnteme lo que quiera sobre esta documentación.",
        "¡De nada!",
        "Respondo preguntas con las páginas de esta documentación y digo cuáles he usado. ¿Qué quiere saber?",
        "La documentación está en {language}.",
        {
            "en": "inglés",
            "de": "alemán",
            "fr": "francés",
            "pt": "portugués",
            "it": "italiano",
            "nl": "neerlandés",
            "ja": "japonés",
        },
    ),
    "fr": Phrases(
        "Je n’ai pas trouvé cela dans la documentation.",
        "Aucune page de la documentation ne confirme cette réponse.",
        "La réponse s’arrête ici, car elle ne faisait que se répéter.",
        "Les pages les plus proches :",
        "Vous pouvez aussi [demander de l’aide]({link}).",
        "Voir aussi :",
        "Ces passages sont les plus proches, mais ne répondent peut-être pas à votre question :",
        "Lire la suite",
        "Bonjour ! Posez-moi vos questions sur cette documentation.",
        "Avec plaisir !",
        "Je réponds aux questions à partir des pages de cette documentation, que je cite. Que voulez-vous savoir ?",
        "La documentation est en {language}.",
        {
            "en": "anglais",
            "de": "allemand",
            "es": "espagnol",
            "pt": "portugais",
            "it": "italien",
            "nl": "néerlandais",
            "ja": "japonais",
        },
    ),
    "it": Phrases(
        "Non ho trovato questo nella documentazione.",
        "Nessuna pagina della documentazione conferma questa risposta.",
        "La risposta finisce qui, perché non faceva che ripetersi.",
        "Le pagine più vicine:",
        "Può anche [chiedere aiuto]({link}).",
        "Vedi anche:",
        "Questi passaggi sono i più vicini, ma forse non rispondono alla Sua domanda:",
        "Continua a leggere",
        "Salve! Mi chieda qualcosa su questa documentazione.",
        "Prego!",
        "Rispondo alle domande con le pagine di questa documentazione e dico quali ho usato. Che cosa vuole sapere?",
        "La documentazione è in {language}.",
        {
            "en": "inglese",
            "de": "tedesco",
            "fr": "francese",
            "es": "spagnolo",
            "pt": "portoghese",
            "nl": "olandese",
            "ja": "giapponese",
        },
    ),
    "nl": Phrases(
        "Dit heb ik niet in de documentatie gevonden.",
        "Geen pagina van de documentatie bevestigt dit antwoord.",
        "Het antwoord eindigt hier, omdat het zich alleen nog herhaalde.",
        "De dichtstbijzijnde pagina’s:",
        "U kunt ook [om hulp vragen]({link}).",
        "Zie ook:",
        "Deze passages komen het dichtst in de buurt, maar beantwoorden uw vraag misschien niet:",
        "Lees verder",
        "Hallo! Vraag mij iets over deze documentatie.",
        "Graag gedaan!",
        "Ik beantwoord vragen met de pagina’s van deze documentatie en noem die pagina’s. Wat wilt u weten?",
        "De documentatie is in het {language}.",
        {
            "en": "Engels",
            "de": "Duits",
            "fr": "Frans",
            "es": "Spaans",
            "pt": "Portugees",
            "it": "Italiaans",
            "ja": "Japans",
        },
    ),
    "pt": Phrases(
        "Não encontrei isto na documentação.",
        "Nenhuma página da documentação confirma esta resposta.",
        "A resposta termina aqui, porque só se repetia.",
        "As páginas mais próximas:",
        "Também pode [pedir ajuda]({link}).",
        "Veja também:",
        "Estas passagens são as mais próximas, mas talvez não respondam à sua pergunta:",
        "Continuar a ler",
        "Olá! Pergunte-me algo sobre esta documentação.",
        "De nada!",
        "Respondo a perguntas com as páginas desta documentação e digo quais usei. O que quer saber?",
        "A documentação está em {language}.",
        {
            "en": "inglês",
            "de": "alemão",
            "fr": "francês",
            "es": "espanhol",
            "it": "italiano",
            "nl": "neerlandês",
            "ja": "japonês",
        },
    ),
    "ja": Phrases(
        "ドキュメントには見つかりませんでした。",
        "この回答を裏付けるページは、ドキュメントに見つかりませんでした。",
        "同じ文の繰り返しになったため、回答はここで終わります。",
        "近いページ:",
        "[こちらで問い合わせる]({link})こともできます。",
        "関連ページ:",
        "近い箇所は次のとおりですが、質問への答えではないかもしれません。",
        "続きを読む",
        "こんにちは。このドキュメントについて何でも聞いてください。",
        "どういたしまして。",
        "このドキュメントのページをもとに質問に答え、使ったページを示します。何を知りたいですか。",
        "ドキュメントは{language}です。",
        {"en": "英語", "de": "ドイツ語", "fr": "フランス語", "es": "スペイン語", "pt": "ポルトガル語"},
    ),
}


def choose_phrases(hits: Sequence[Hit], question: str = "") -> Phrases:
    """The service's sentences in the language of the question, if that is clear, else in that of the best hit."""
    return phrases_in(detect_language(question) or ((hits[0].language or "") if hits else ""))


def language_of(hits: Sequence[Hit]) -> str:
    """The language of the best passage as two letters; empty if neither its page nor its text says."""
    return (hits[0].language or detect_page_language(hits[0].text or hits[0].body))[:2].lower()


def phrases_in(language: str) -> Phrases:
    """The service's sentences in a language, or in English if they are not translated."""
    return OTHER_LANGUAGES.get(language[:2].lower(), ENGLISH)


def escape_markdown(text: str) -> str:
    """Escape a title or heading, so that Markdown shows its characters and nothing else."""
    return _MARKDOWN_SIGN.sub(r"\\\g<0>", " ".join(text.split()))

"""Recognises greetings, thanks and questions about the assistant itself, which need a sentence and no search.

"hi there!"                   a greeting
"ok great, thanks a lot"      thanks
"who are you?"                about the assistant
"hi, how do I install acme?"  none of these: it asks something

It also recognises what no documentation answers: insults, orders for a poem, attempts to get the instructions, harm.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Literal

from assistant.answering.translations import phrases_in
from search.text import analysis

Kind = Literal["greeting", "thanks", "about"]

MAX_WORDS = 12  # a longer text says something else as well

# The phrases that make a text a greeting or thanks, by language.
_GREETINGS: Mapping[str, str] = {
    "en": "hi, hello, hey, hiya, howdy, good morning, good afternoon, good evening, good day, greetings, help me, "
    "need help, a hand, have a question, got a question",
    "de": "hallo, moin, servus, guten morgen, guten tag, guten abend",
    "fr": "bonjour, bonsoir, salut, coucou",
    "es": "hola, buenas tardes, buenas noches, buenos días, buenos dias",
    "pt": "olá, oi, bom dia, boa tarde, boa noite",
    "it": "ciao, buongiorno, buonasera",
    "nl": "hoi, goedemorgen, goedemiddag, goedenavond",
    "ja": "こんにちは, おはよう, おはようございます, こんばんは",
}
_THANKS: Mapping[str, str] = {
    "en": "thanks, thank you, thank u, thx, tysm, cheers",
    "de": "danke, dankeschön, vielen dank",
    "fr": "merci",
    "es": "gracias",
    "pt": "obrigado, obrigada",
    "it": "grazie",
    "nl": "bedankt, dank je, dank u, dankjewel",
    "ja": "ありがとう, ありがとうございます",
}
# What people add to either, in these languages. A text with any other word asks something.
_FILLERS = """
    a again all amazing and anybody anyone appreciate appreciated are ask assist awesome bot best bye can cool could day
    dear doing everyone excellent fantastic fine for friend give going good got great guys hand have help helped helpful
    helping here how i i'd i've is it just lot lots like many mate me much my need nice now of oh ok okay perfect please
    question questions quick r re really s so some somebody someone something super team that that's the there this to
    today u up ur very want was well what's whats with wonderful worked works would wow yes you you're your
    alles das dich dir für gehts geht guten gut hast hilfe ihnen klar mir prima schön schönen sehr toll viel wie es
    aide beaucoup bien bonne comment allez ça journée le les monde pour tout tous tu va vas votre vous
    ayuda cómo como día días estás esta está la mucho muchas muy por qué que tal todos
    ajuda bem boa bom como dia muito noite pela tarde tudo vai você
    aiuto come l mille per stai tanto tutti va   dag gaat hartelijk het je wel zeer
"""
_KINDS: Sequence[tuple[Kind, Mapping[str, str]]] = (("thanks", _THANKS), ("greeting", _GREETINGS))
_KNOWN_WORDS = frozenset(
    [
        *_FILLERS.split(),
        *(word for _, phrases in _KINDS for listed in phrases.values() for word in re.findall(r"\w+", listed)),
    ]
)
_ABOUT: Mapping[str, str] = {
    "en": r"(who|what) (are|r) (you|u)|what('| i)s your name|do you have a name|who (made|built|created) you"
    r"|are you (a |an )?(real |actual )?(\w+ )?"
    r"(bot|human|person|robot|machine|ai|llm|model|assistant|chatgpt|gpt|claude)( or (a |an )?\w+)?"
    r"|(which|what) ((large )?language |ai )?model (are|do) you( \w+){0,3}"
    r"|what can (you|u) do( for me)?|how can you help( me)?|what do you know",
    "de": r"wer bist du|wer sind sie|was bist du|bist du ein (bot|mensch|roboter)|was kannst du",
    "fr": r"qui (es-tu|êtes-vous)|tu es qui|es-tu un robot|que (peux-tu|pouvez-vous) faire",
    "es": r"quién eres|qué eres|eres un (robot|bot|humano)|qué puedes hacer",
    "pt": r"quem é você|você é um (robô|bot|humano)|o que você (pode|sabe) fazer",
    "it": r"chi sei|sei un (robot|bot|umano)|cosa (puoi|sai) fare",
    "nl": r"wie ben je|ben je een (robot|bot|mens)|wat kun je",
    "ja": r"(あなた|君)は(誰|だれ|何)(ですか)?",
}
_PAUSE = r"(?:please |pls |now |ok |hey |just |can you |could you |would you )*"
_END = r"(?=$|[,:;]| (?:about|for|in|on|of|please|that|to|with)\b)"
_ORDER = re.compile(
    rf"{_PAUSE}(?:(?:(?:tell|sing|write|compose|give)(?: me| us)? (?:an?|another|some|my|the)(?: [\w'-]+){{0,2}}"
    rf" (?:joke|poem|song|haiku|limerick|essay|cover letter)s?|do my(?: \w+)? homework){_END}"
    r"|(?:ignore|disregard|forget)(?: all| any| of| the| your| my)* (?:previous|prior|above|earlier)"
    r" (?:instruction|prompt)s?\b"
    r"|(?:ignore|disregard|forget)(?: of| my)*(?: all| the| your)+ (?:previous|prior|above|earlier|system)"
    r" (?:rule|message|instruction|prompt)s?\b"
    r"|(?:show|tell|print|reveal|repeat|give|display|output|send)(?: me| us)?"
    r"(?: your| the)(?: full| complete| exact)*(?: system| hidden| secret| original| initial)+ (?:prompt|instructions)"
    r"(?: above| verbatim| word for word)?$)",
    re.IGNORECASE,
)
_INSULT = re.compile(
    r"(?:hey |ok |wow |no )*(?:you|u|you're|youre)"
    r"(?: (?:are|r|so|such|an?|all|completely|totally|really|fucking|just))*"
    r" (?:stupid|idiots?|dumb|useless|morons?|garbage|trash|worthless|pathetic|suck|shit|bullshit)\b",
    re.IGNORECASE,
)
# What no documentation should answer with its nearest passages, wherever it stands in a text.
_OTHERS = r"my (?:wife|husband|girlfriend|boyfriend|boss|neighbou?r|ex)"
_HARM = re.compile(
    r"\b(?:meth|methamphetamine|cocaine|heroin|fentanyl|mdma|ricin|nerve gas|pipe bombs?)\b"
    rf"|\b(?:kill|hurt|hang|cut) (?:myself|{_OTHERS})\b|\bend my life\b"
    rf"|\b(?:(?:hack|break) into (?:her|his|their)|(?:hack|break|get) into (?:some(?:one|body)|{_OTHERS})(?:'?s)?)"
    r"(?: [\w']{1,20}){0,2} (?:account|e-?mails?|phone|wi-?fi|facebook|instagram|whatsapp|snapchat)\b",
    re.IGNORECASE,
)


def is_no_question(text: str) -> bool:
    """Whether a text is an insult, an order for a poem, an attempt to get the instructions, or about harm."""
    plain = " ".join(text.replace("’", "'").replace(",", " ").split()).strip("!?.…~ ")
    return bool(_ORDER.match(plain) or _INSULT.match(plain) or _HARM.search(plain))


def recognise(text: str) -> tuple[Kind, str] | None:
    """The kind of small talk and its language; None for a text that asks or says anything else."""
    plain = " ".join(text.replace("’", "'").split()).strip("!?.,…~ ¿¡。！？")
    for language, pattern in _ABOUT.items():
        if re.fullmatch(pattern, plain, re.IGNORECASE):
            return "about", language
    words = [word.lower() for word in analysis.words(plain)]
    if len(words) > MAX_WORDS or not all(word in _KNOWN_WORDS for word in words):
        return None
    spaced = f" {' '.join(words)} "
    for kind, phrases in _KINDS:
        for language, listed in phrases.items():
            if any(f" {phrase} " in spaced for phrase in listed.split(", ")):
                return kind, language
    return None


def reply(text: str) -> str:
    """What to say to small talk, in its language; empty for a text that asks or says anything else."""
    recognised = recognise(text)
    if not recognised:
        return ""
    kind, language = recognised
    phrases = phrases_in(language)
    return {"greeting": phrases.greeting, "thanks": phrases.thanks, "about": phrases.about}[kind]

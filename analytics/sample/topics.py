"""What the demo's readers ask: topics, each with wordings, questions that follow, and the page that they are on."""

from typing import NamedTuple


class Topic(NamedTuple):
    """Wordings of one question. `weight` says how often it is asked; `follow_ups` can follow any of them."""

    page: str
    weight: int
    wordings: tuple[str, ...]
    follow_ups: tuple[str, ...] = ()


TOPICS = (
    Topic(
        "/embed",
        14,
        (
            "How do I put the widget on my site?",
            "Where does the script tag go?",
            "embed chat in docusaurus",
            "How can I change the colour of the widget?",
            "Wie baue ich das Widget in meine Seite ein?",
            "¿Cómo añado el widget a mi sitio?",
        ),
        ("Does it work with a content security policy?", "And in dark mode?", "Which browsers does it need?"),
    ),
    Topic(
        "/quickstart",
        12,
        (
            "How do I install it?",
            "What do I need to run the demo?",
            "Can I run this on Windows?",
            "run with docker",
            "Was brauche ich für die Installation?",
            "Comment installer le service ?",
        ),
        ("Which Python version?", "And how do I change the port?"),
    ),
    Topic(
        "/sources",
        11,
        (
            "How do I index a Sphinx project?",
            "Can it read an OpenAPI file?",
            "crawl my website with a sitemap",
            "How often is my documentation read again?",
            "Wie schließe ich eine Seite von der Suche aus?",
            "the addresses of my pages end in .html but my site has none",
        ),
        ("And for several versions?", "Does it obey robots.txt?"),
    ),
    Topic(
        "/errors-and-limits",
        9,
        (
            "Which limits apply to the assistant?",
            "I get 429 what should I do",
            "What does status 403 mean?",
            "max length of a question",
            "Wie viele Fragen pro Stunde sind erlaubt?",
        ),
        ("Can I raise it?", "Is it per address or per organization?"),
    ),
    Topic(
        "/models",
        9,
        (
            "Which models can I use?",
            "How do I connect Ollama?",
            "What happens without a model?",
            "use vLLM as the model server",
            "Kann ich ein eigenes Modell verwenden?",
        ),
        ("How do I set a daily budget?", "What if the model server is down?"),
    ),
    Topic(
        "/keys-and-data",
        7,
        (
            "How do I rotate an API key?",
            "Is the assistant key secret?",
            "difference between assistant key and admin key",
            "I lost my admin key",
        ),
        ("How do I revoke the old one?",),
    ),
    Topic(
        "/who-is-ai",
        7,
        (
            "Who counts as AI?",
            "Is Googlebot counted as a visitor?",
            "how do you detect ChatGPT agents",
            "Comment sont comptés les robots ?",
        ),
        ("How are they verified?",),
    ),
    Topic(
        "/privacy",
        6,
        (
            "Do you store IP addresses?",
            "Is it GDPR compliant?",
            "How long are conversations kept?",
            "delete the data of one user",
            "Werden personenbezogene Daten gespeichert?",
        ),
        ("And how do I erase a visitor?",),
    ),
    Topic(
        "/streaming",
        5,
        ("How do I resume a stream?", "useChat with v5", "What events does the stream send?"),
        ("What does the finish event contain?",),
    ),
    Topic(
        "/deployment",
        5,
        ("How do I run it behind nginx?", "Do I need Redis?", "postgres instead of sqlite", "how do I back it up"),
        ("How many requests per second can it take?",),
    ),
    Topic(
        "/how-search-works", 3, ("How does search rank pages?", "Can search find synonyms?", "does it use embeddings")
    ),
    # What the pages do not say: the gaps of the sample.
    Topic(
        "/security",
        6,
        (
            "Does it support single sign-on with SAML?",
            "Can our team log in with Okta?",
            "sso",
            "Gibt es Single Sign-on mit Azure AD?",
        ),
    ),
    Topic("/", 5, ("How much does it cost?", "Is there a hosted version?", "pricing for a team of ten")),
    Topic("/your-tools", 4, ("Is there a Slack bot?", "post answers to Microsoft Teams", "Discord integration?")),
    Topic("/", 2, ("hello", "thanks!", "What is a good recipe for pizza?")),
)

COMMENTS_ON_ANSWERS = {
    True: ("", "", "", "", "Exactly what I needed.", "Thanks, the link helped."),
    False: (
        "",
        "",
        "Not what I asked.",
        "I use Kubernetes, this is about Docker.",
        "Too long, I only need the command.",
    ),
}
REASONS_OF_ANSWERS = ("inaccurate", "incomplete", "out of date", "not what I asked")

QUERIES = (  # with their weights
    ("embed", 14), ("widget", 13), ("api key", 11), ("install", 11), ("quickstart", 8), ("docker", 9), ("ollama", 9),
    ("429", 8), ("rate limit", 8), ("sphinx", 6), ("openapi", 7), ("robots.txt", 4), ("sitemap", 4), ("usechat", 6),
    ("stream events", 4), ("postgres", 5), ("redis", 5), ("nginx", 4), ("csp", 5), ("dark mode", 4), ("privacy", 4),
    ("retention", 3), ("gdpr", 4), ("golden questions", 3), ("evaluate", 2), ("webhook", 5), ("import log", 3),
    ("visitors", 3), ("chatgpt", 4), ("googlebot", 2), ("backup", 3), ("environment variables", 5),
    ("python version", 3),
    ("mkdocs", 5), ("docusaurus", 6), ("crawl", 4), ("versions", 3), ("language", 2), ("admin key", 5), ("cors", 5),
    ("embeddings", 4), ("citations", 2), ("handoff", 2), ("feedback api", 3), ("export csv", 3), ("instalation", 2),
    ("authentification", 2), ("sso", 8), ("saml", 6), ("ldap", 4), ("jira", 4), ("okta", 3), ("pricing", 6),
    ("slack", 5), ("teams integration", 3), ("kubernetes helm", 4), ("terraform", 2), ("graphql", 3),
    ("einbetten", 2), ("schlüssel", 2),
)  # fmt: skip

PAGE_FEEDBACK = (  # page, helpful, reason, comment
    ("/quickstart", True, "Solved my problem", ""),
    ("/quickstart", True, "Easy to follow", "Three minutes, as promised."),
    ("/quickstart", False, "Missing", "What about Windows without Docker?"),
    ("/embed", True, "Good examples", ""),
    ("/embed", True, "Solved my problem", "The CSP part saved me an hour."),
    ("/embed", False, "Hard to follow", "Where do I put the tag in Docusaurus?"),
    ("/sources", True, "Solved my problem", ""),
    ("/sources", False, "Missing", "How do I read pages behind a log-in?"),
    ("/models", True, "Good examples", ""),
    ("/models", False, "Out of date", "The model names have changed since."),
    ("/streaming", True, "Good examples", "The table of events is great."),
    ("/streaming", False, "Hard to follow", ""),
    ("/deployment", False, "Missing", "Please add a Helm chart."),
    ("/deployment", True, "Easy to follow", ""),
    ("/security", False, "Missing", "Nothing about single sign-on."),
    ("/errors-and-limits", True, "Solved my problem", ""),
    ("/privacy", True, "", "Clear. Our lawyer was happy."),
    ("/use-chat", True, "Good examples", ""),
    ("/configuration", True, "", ""),
    ("/who-is-ai", True, "Easy to follow", ""),
)
CODE_FEEDBACK = (  # page, helpful, comment, code, language
    ("/quickstart", False, "Fails with zsh: parse error.", 'alias manage=".venv/bin/python manage.py"', "sh"),
    ("/use-chat", True, "", "const { messages, sendMessage } = useChat();", "tsx"),
    ("/embed", False, "The key is missing in the example.", '<script async src="/widget.js"></script>', "html"),
    ("/assistant-api", True, "Works as it is.", 'curl -N "$DOCS/discovery/v1/assistant/acme/message"', "sh"),
)
AGENT_FEEDBACK = (
    ("/search-api", True, "The example request was enough to write a client."),
    ("/analytics-api", False, "The page does not say whether dateTo is inclusive."),
)

"""Messages for chats: what Slack, Microsoft Teams and Discord expect at the address of an incoming webhook.

Sources: https://docs.slack.dev/messaging/formatting-message-text, https://adaptivecards.io/explorer,
https://discord.com/developers/docs/resources/webhook#execute-webhook.
"""

import re
from typing import Any

from docsite.core.delivery.models import Webhook
from docsite.core.unicode.addresses import urlsplit

Format = Webhook.Format
NO_PREVIEWS = 4  # Discord's flag SUPPRESS_EMBEDS
OPEN = "Open it"  # the text of the link
MAX_SENTENCE = 900  # characters; Discord takes 2,000, and each may need a backslash
_TEAMS_HOSTS = (".webhook.office.com", ".logic.azure.com", ".api.powerplatform.com")
_MARKDOWN = re.compile(r"([\\`*_~|<>\[\]#])")


def find_format(url: str) -> Webhook.Format:
    """The format that an address expects, by its host."""
    parts = urlsplit(url)
    host = (parts.hostname or "").lower()
    if host in ("hooks.slack.com", "hooks.slack-gov.com"):
        return Format.SLACK
    if host in ("discord.com", "discordapp.com", "ptb.discord.com", "canary.discord.com"):
        return Format.STANDARD if parts.path.endswith(("/slack", "/github")) else Format.DISCORD
    return Format.TEAMS if host.endswith(_TEAMS_HOSTS) else Format.STANDARD


def build_body(chat: str, sentence: str, url: str) -> dict[str, Any]:
    """A message of a chat: a sentence, in which nothing is markup or a mention, and a link."""
    sentence = " ".join(sentence.split()).replace("://", ":\u200b//")  # chats would make links of readers' addresses
    if len(sentence) > MAX_SENTENCE:
        sentence = f"{sentence[: MAX_SENTENCE - 1]}…"
    if chat == Format.SLACK:
        escaped = sentence.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
        blocks = [
            {"type": "section", "text": {"type": "plain_text", "text": sentence, "emoji": False}},
            {"type": "section", "text": {"type": "mrkdwn", "text": f"<{url}|{OPEN}>"}},
        ]
        # The text is for notifications, and for chats that speak Slack's format without its blocks.
        text = f"{escaped} <{url}|{OPEN}>"
        return {"text": text, "blocks": blocks, "unfurl_links": False, "unfurl_media": False}
    if chat == Format.DISCORD:
        return {
            "content": f"{_escape_markdown(sentence)}\n<{url}>",
            "allowed_mentions": {"parse": []},
            "flags": NO_PREVIEWS,
        }
    card = {
        "$schema": "http://adaptivecards.io/schemas/adaptive-card.json",
        "type": "AdaptiveCard",
        "version": "1.4",
        "body": [{"type": "TextBlock", "text": _escape_markdown(sentence), "wrap": True}],
        "actions": [{"type": "Action.OpenUrl", "title": OPEN, "url": url}],
    }
    attachment = {"contentType": "application/vnd.microsoft.card.adaptive", "contentUrl": None, "content": card}
    return {"type": "message", "attachments": [attachment]}


def _escape_markdown(text: str) -> str:
    return _MARKDOWN.sub(r"\\\1", text)

"""AI clients that nobody has listed, by the words in their names and by where they are at home."""

import re

from analytics.agents.ai_names import HOMES
from analytics.agents.clients import library
from analytics.agents.verdict import Verdict
from analytics.agents.words import Word, Words, client_name, each, parts

# Companies, models and frameworks, wherever in a name: nothing else is spelt so, but for `_NO_BRANDS`.
_BRANDS = each(
    """
    gpt openai claude anthropic perplexity mistral deepseek copilot groq qwen llama cohere doubao hunyuan zhipu chatglm
    minimax moonshot baichuan stepfun sakana eleuther huggingface huggingchat notebooklm vertexai vertexbot langchain
    langgraph crewai autogen smolagent openrouter litellm vllm webllm perplexica aleph-alpha alephalpha browserbase
    cerebras codeium elevenlabs hebbia inkeep junie markprompt mendable nous-research nousresearch sambanova stagehand
    tabnine vectara weaviate yuanbao firecrawl tavily hyperbrowser browser-use browseruse computer-use computeruse
    deep-research deepresearch agentic genai llmtxt llmstxt mcp-server mcpserver mcp-client mcpclient mcp-fetch mcpfetch
    mcp-tool mcptool mcp-browser mcpbrowser training-data trainingdataset pretrain
    """
)
_NO_BRANDS = re.compile(r"coheren|autogenerat")
_DATASET = re.compile(r"(?:open|web|text|image|code|ml)?-?datasets?-?(?:bot|crawler|spider|scraper|collector|builder)?")
# Words that are too short or too common for that must be a whole word of the name.
_STRONG = each("autorag chatbot embeddings ernie gemini gemma glm graphrag grok kimi llm llms mcp rag tongyi yiyan")
_HELPERS = each("assist assistant")  # at the end of a name of several words: `DuckAssistBot`, not "Language Assistant"
_NO_HELPERS = each(
    "booking car crm dental driver email home hotel mail migration parking pos price sales seo setup shop store travel "
    "update upgrade wp"
)
_COMES_BEHIND = each("agent ai bot browser client crawler fetcher reader search user web")
_WEAK = "ai"  # says enough only where nothing says that the client comes for an ordinary reason
_ORDINARY = re.compile(
    r"unfurl|preview|scanning|scanner|monitor|uptime|favicon|validator|health-?check|link-?check|checklink|broken-?link|"
    r"backup|sitemap|webhook|site-?score|seo\b(?<![a-z]seo)|feeds?\b|rss\b|status\b"
)
# Software that people run on sites of their own, under `.ai`, too.
_SELF_HOSTED = each(
    """
    bookstack discourse drupal flarum forgejo ghost gitea gitlab grafana homeassistant icinga jenkins joomla magento
    mastodon matomo mattermost mediawiki misskey moodle nagios nextcloud nodebb owncloud peertube phpbb prestashop
    prometheus redmine rocketchat sentry synapse typo3 uptimekuma woocommerce wordpress xenforo zabbix zulip
    """
)

_AGENT_FOR = each(
    "ai assistant autonomous browser browsing code coder coding computer copilot developer gpt llm shopping swe task"
)
_NO_USERS = each("anonymous end guest multi new power root single super synthetic test unknown virtual")

_AI_HOST = re.compile(r"\.ai$|^ai\.|-ai\.")
_PURPOSE = re.compile(r"\b[Ll]anguage [Mm]odels?\b|(?<![\w./@-])AI(?: \w+|(?![\w./@-]))")

_KINDS = (
    ("ai_agent", re.compile(r"^(?:cod(?:e|er|ing|ex)|agents?|operator|cli|mcp|browser|ide|act|computer)$")),
    ("ai_user", re.compile(r"^(?:user|fetch|assist|read|chat|answer|research|ask|brows|summar|copilot|cit[ae]|link)")),
    ("ai_search", re.compile(r"^(?:search|index|seek|find|rag$|retriev|ground|knowledge)")),
)
_CRAWLS = re.compile(r"bot|spider|crawl|train|scrap|extended|data|corpus|download|collect|harvest")


def family(text: str, found: Words, plain: bool) -> Verdict | None:
    """The verdict on an AI client by its family. In a plain browser's string only what says it outright counts."""
    lowered = text.lower()
    ordinary = not plain and bool(_ORDINARY.search(lowered))
    brands = [brand for brand in _BRANDS if brand in lowered]
    for word in found.words:
        if not word.at.device and (why := _family_of(word, brands, plain, ordinary, found.mobile)):
            return _verdict(word.name, f"{why}: {word.name}", word.name)
    if plain:
        return None
    name = client_name(found)
    under_ai = not ordinary and not library(found)
    for host in () if _self_hosted(found) else found.hosts:
        if host in HOMES or host.partition(".")[2] in HOMES:
            return _verdict(name, f"at home with AI: {host}", name or host)
        if under_ai and _AI_HOST.search(host):
            return _verdict(name, f"at home under .ai: {host}", name or host)
    if not ordinary and ("AI" in text or "anguage" in text) and (told := _PURPOSE.search(text)):
        return _verdict(f"{name} {told[0]}", f"says what it is for: {told[0]}", name)
    return None


def _self_hosted(found: Words) -> bool:
    """Whether a string names software that sends the address of the site it runs on."""
    return not _SELF_HOSTED.isdisjoint((*found.phrases, *(word.key.removesuffix("bot") for word in found.words)))


def _family_of(word: Word, brands: list[str], plain: bool, ordinary: bool, mobile: bool) -> str:
    """Why a name is an AI client's, or nothing. The brands are those in the whole of the string."""
    lowered, said = word.name.lower(), parts(word.name)
    brand = bool(brands) and any(map(_NO_BRANDS.sub("", lowered).__contains__, brands))
    if (lowered.endswith("-user") or (brand and word.name.endswith("User"))) and _NO_USERS.isdisjoint(said):
        return "fetches for a user"
    if plain and (mobile or not word.versioned):
        return ""  # a browser within an assistant's app has a person before it
    strong = brand or not _STRONG.isdisjoint(said) or ("dataset" in lowered and bool(_DATASET.fullmatch(lowered)))
    if ordinary and (strong or not _HELPERS.isdisjoint(said)) and _ORDINARY.search(lowered):
        return ""  # `GeminiDB-HealthCheck`
    if strong:
        return "AI family"
    if _assists(said):
        return "assists"
    if lowered.endswith("-extended"):
        return "a name for AI beside a crawler's"  # `Google-Extended`
    if "agent" in said and not _AGENT_FOR.isdisjoint(said):
        return "calls itself an agent"
    if not plain and not ordinary and _WEAK in said and lowered != _WEAK:
        return "calls itself AI"
    return ""


def _assists(said: tuple[str, ...]) -> bool:
    """Whether a name is an assistant's, and not one for a trade: `StoreAssistant-PriceBot`."""
    if _HELPERS.isdisjoint(said) or not _NO_HELPERS.isdisjoint(said):
        return False
    while said and said[-1] in _COMES_BEHIND:
        said = said[:-1]
    return len(said) > 1 and said[-1] in _HELPERS


def _verdict(described: str, rule: str, name: str) -> Verdict:
    return Verdict(kind_of(described), rule[:80], name[:80])


def kind_of(name: str) -> str:
    """The class that an AI client's name tells. The last word that says anything decides: `CodeSearchBot` searches."""
    for word in reversed(parts(name)):
        for kind, pattern in _KINDS:
            if pattern.search(word):
                return kind
    return "ai_training" if _CRAWLS.search(name.lower()) else "ai_agent"

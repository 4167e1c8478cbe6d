"""Recognize AI clients without an entry, by the words of their names and the hosts of their links."""

import re

from analytics.agents.clients import find_library
from analytics.agents.names import AI_HOSTS
from analytics.agents.user_agent_parser import Name, ParsedUserAgent, client_name, split_words, word_set
from analytics.agents.verdict import Verdict

# Companies, models and frameworks, anywhere in a name. Only `_NOT_BRANDS` contain the same letters.
_BRANDS = word_set(
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
_NOT_BRANDS = re.compile(r"coheren|autogenerat")
_DATASET = re.compile(r"(?:open|web|text|image|code|ml)?-?datasets?-?(?:bot|crawler|spider|scraper|collector|builder)?")
# Shorter or more common words, which count only as a whole word of the name.
_AI_WORDS = word_set(
    "autorag chatbot embeddings ernie gemini gemma glm graphrag grok kimi llm llms mcp rag tongyi yiyan"
)
_ASSISTANT_WORDS = word_set(
    "assist assistant"
)  # at the end of a name of several words: `DuckAssistBot`, not "Language Assistant"
_OTHER_ASSISTANTS = word_set(
    "booking car crm dental driver email home hotel mail migration parking pos price sales seo setup shop store travel "
    "update upgrade wp"
)
_SUFFIXES = word_set("agent ai bot browser client crawler fetcher reader search user web")
_WEAK_AI_WORD = "ai"  # counts only if nothing shows an ordinary purpose of the client
_ORDINARY_PURPOSE = re.compile(
    r"unfurl|preview|scanning|scanner|monitor|uptime|favicon|validator|health-?check|link-?check|checklink|broken-?link|"
    r"backup|sitemap|webhook|site-?score|seo\b(?<![a-z]seo)|feeds?\b|rss\b|status\b"
)
# Software that people host themselves, also under `.ai` domains.
_SELF_HOSTED = word_set(
    """
    bookstack discourse drupal flarum forgejo ghost gitea gitlab grafana homeassistant icinga jenkins joomla magento
    mastodon matomo mattermost mediawiki misskey moodle nagios nextcloud nodebb owncloud peertube phpbb prestashop
    prometheus redmine rocketchat sentry synapse typo3 uptimekuma woocommerce wordpress xenforo zabbix zulip
    """
)

_AGENT_FOR = word_set(
    "ai assistant autonomous browser browsing code coder coding computer copilot developer gpt llm shopping swe task"
)
_NOT_USERS = word_set("anonymous end guest multi new power root single super synthetic test unknown virtual")

_AI_HOST = re.compile(r"\.ai$|^ai\.|-ai\.")
_PURPOSE = re.compile(r"\b[Ll]anguage [Mm]odels?\b|(?<![\w./@-])AI(?: \w+|(?![\w./@-]))")

_KINDS = (
    ("ai_agent", re.compile(r"^(?:cod(?:e|er|ing|ex)|agents?|operator|cli|mcp|browser|ide|act|computer)$")),
    ("ai_user", re.compile(r"^(?:user|fetch|assist|read|chat|answer|research|ask|brows|summar|copilot|cit[ae]|link)")),
    ("ai_search", re.compile(r"^(?:search|index|seek|find|rag$|retriev|ground|knowledge)")),
)
_CRAWLS = re.compile(r"bot|spider|crawl|train|scrap|extended|data|corpus|download|collect|harvest")


def match_family(text: str, parsed: ParsedUserAgent, plain: bool) -> Verdict | None:
    """The verdict on an AI client without an entry, or None. `plain`: the user agent is that of a browser."""
    lowered = text.lower()
    ordinary = not plain and bool(_ORDINARY_PURPOSE.search(lowered))
    brands = [brand for brand in _BRANDS if brand in lowered]
    for word in parsed.names:
        if not word.at.device and (reason := _reason_for(word, brands, plain, ordinary, parsed.mobile)):
            return _build_verdict(word.name, f"{reason}: {word.name}", word.name)
    if plain:
        return None
    name = client_name(parsed)
    under_ai = not ordinary and not find_library(parsed)
    for host in () if _is_self_hosted(parsed) else parsed.hosts:
        if host in AI_HOSTS or host.partition(".")[2] in AI_HOSTS:
            return _build_verdict(name, f"at home with AI: {host}", name or host)
        if under_ai and _AI_HOST.search(host):
            return _build_verdict(name, f"at home under .ai: {host}", name or host)
    if not ordinary and ("AI" in text or "anguage" in text) and (purpose := _PURPOSE.search(text)):
        return _build_verdict(f"{name} {purpose[0]}", f"says what it is for: {purpose[0]}", name)
    return None


def _is_self_hosted(parsed: ParsedUserAgent) -> bool:
    """Whether a user agent names software that sends the address of the site that runs it."""
    return not _SELF_HOSTED.isdisjoint((*parsed.phrases, *(word.key.removesuffix("bot") for word in parsed.names)))


def _reason_for(word: Name, brands: list[str], plain: bool, ordinary: bool, mobile: bool) -> str:
    """Why a name is that of an AI client; empty if it is not. `brands` are those in the whole user agent."""
    lowered, words = word.name.lower(), split_words(word.name)
    brand = bool(brands) and any(map(_NOT_BRANDS.sub("", lowered).__contains__, brands))
    if (lowered.endswith("-user") or (brand and word.name.endswith("User"))) and _NOT_USERS.isdisjoint(words):
        return "fetches for a user"
    if plain and (mobile or not word.versioned):
        return ""  # a person uses the browser in an assistant's app
    strong = brand or not _AI_WORDS.isdisjoint(words) or ("dataset" in lowered and bool(_DATASET.fullmatch(lowered)))
    if ordinary and (strong or not _ASSISTANT_WORDS.isdisjoint(words)) and _ORDINARY_PURPOSE.search(lowered):
        return ""  # `GeminiDB-HealthCheck`
    if strong:
        return "AI family"
    if _is_assistant(words):
        return "assists"
    if lowered.endswith("-extended"):
        return "a name for AI beside a crawler's"  # `Google-Extended`
    if "agent" in words and not _AGENT_FOR.isdisjoint(words):
        return "calls itself an agent"
    if not plain and not ordinary and _WEAK_AI_WORD in words and lowered != _WEAK_AI_WORD:
        return "calls itself AI"
    return ""


def _is_assistant(words: tuple[str, ...]) -> bool:
    """Whether a name is that of an AI assistant, not of a tool for one trade such as `StoreAssistant-PriceBot`."""
    if _ASSISTANT_WORDS.isdisjoint(words) or not _OTHER_ASSISTANTS.isdisjoint(words):
        return False
    while words and words[-1] in _SUFFIXES:
        words = words[:-1]
    return len(words) > 1 and words[-1] in _ASSISTANT_WORDS


def _build_verdict(described: str, rule: str, name: str) -> Verdict:
    return Verdict(infer_class(described), rule[:80], name[:80])


def infer_class(name: str) -> str:
    """The class of an AI client by its name. The last meaningful word decides: `CodeSearchBot` searches."""
    for word in reversed(split_words(name)):
        for kind, pattern in _KINDS:
            if pattern.search(word):
                return kind
    return "ai_training" if _CRAWLS.search(name.lower()) else "ai_agent"

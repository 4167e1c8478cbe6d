"""AI clients that nobody has listed, by the words in their names and by where they are at home."""

import re

from analytics.agents.ai_names import HOMES
from analytics.agents.verdict import Verdict
from analytics.agents.words import Word, Words, client_name, each, parts

# Companies and models, wherever in a name: nothing else is spelt so.
_BRAND = re.compile(
    r"gpt|openai|claude|anthropic|perplexity|mistral|deepseek|copilot|groq|qwen|llama|cohere(?!n)|doubao|hunyuan|"
    r"zhipu|chatglm|minimax|moonshot|baichuan|stepfun|sakana|eleuther|hugging(?:face|chat)|notebooklm|"
    r"vertex(?:ai|bot)|langchain|langgraph|crewai|autogen(?!erat)|smolagent|openrouter|litellm|vllm|webllm|perplexica|"
    r"aleph-?alpha|browserbase|cerebras|codeium|elevenlabs|hebbia|inkeep|junie|mendable|nous-?research|sambanova|"
    r"stagehand|tabnine|vectara|weaviate|yuanbao|"
    r"firecrawl|tavily|hyperbrowser|browser-?use|computer-?use|deep-?research|agentic|genai|llms?txt|"
    r"mcp-?(?:server|client|fetch|tool|browser)"
)
# Words that are too short or too common for that must be a whole word of the name.
_STRONG = each(
    "autorag chatbot dataset datasets embeddings ernie gemini gemma glm graphrag grok kimi llm llms mcp rag tongyi "
    "yiyan"
)
_HELPERS = each("assist assistant")  # in a name of several words: `DuckAssistBot`, not "Language Assistant"
_WEAK = "ai"  # says enough only where nothing says that the client comes for an ordinary reason
_ORDINARY = re.compile(
    r"unfurl|preview|scanning|scanner|monitor|uptime|\bseo\b|\bsite-?score|favicon|\bfeeds?\b|\brss\b|\bstatus\b|"
    r"validator"
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
    ordinary = not plain and bool(_ORDINARY.search(text.lower()))
    for word in found.words:
        if not word.at.device and (why := _family_of(word, plain, ordinary, found.mobile)):
            return _verdict(word.name, f"{why}: {word.name}", word.name)
    if plain:
        return None
    name = client_name(found)
    for host in found.hosts:
        if host in HOMES or host.partition(".")[2] in HOMES:
            return _verdict(name, f"at home with AI: {host}", name or host)
        if not ordinary and _AI_HOST.search(host):
            return _verdict(name, f"at home under .ai: {host}", name or host)
    if not ordinary and (told := _PURPOSE.search(text)):
        return _verdict(f"{name} {told[0]}", f"says what it is for: {told[0]}", name)
    return None


def _family_of(word: Word, plain: bool, ordinary: bool, mobile: bool) -> str:
    """Why a name is an AI client's, or nothing."""
    lowered, said = word.name.lower(), parts(word.name)
    brand = _BRAND.search(lowered)
    if (lowered.endswith("-user") or (brand and word.name.endswith("User"))) and _NO_USERS.isdisjoint(said):
        return "fetches for a user"
    if plain and (mobile or not word.versioned):
        return ""  # a browser within an assistant's app has a person before it
    if brand or not _STRONG.isdisjoint(said):
        return "AI family"
    if len(said) > 1 and not _HELPERS.isdisjoint(said):
        return "assists"
    if lowered.endswith("-extended"):
        return "a name for AI beside a crawler's"  # `Google-Extended`
    if "agent" in said and not _AGENT_FOR.isdisjoint(said):
        return "calls itself an agent"
    if not plain and not ordinary and _WEAK in said and lowered != _WEAK:
        return "calls itself AI"
    return ""


def _verdict(described: str, rule: str, name: str) -> Verdict:
    return Verdict(kind_of(described), rule[:80], name[:80])


def kind_of(name: str) -> str:
    """The class that an AI client's name tells. The last word that says anything decides: `CodeSearchBot` searches."""
    for word in reversed(parts(name)):
        for kind, pattern in _KINDS:
            if pattern.search(word):
                return kind
    return "ai_training" if _CRAWLS.search(name.lower()) else "ai_agent"

"""What kind of client a user agent is, and which rule says so.

Named rules first (a table of agents with their operators), then families of
names, then the marks that automated clients leave; whoever is left and looks
like a browser is a person. Names are matched with word bounds: `bot` inside a
word proves nothing.
"""

import functools
import re
from dataclasses import dataclass

VERSION = 1  # raise it when a rule changes: views carry the version that classed them
LONGEST = 512

AI_CLASSES = ("ai_user", "ai_agent", "ai_search", "ai_training")
KNOWN_CRAWLERS = ("search_crawler", "other_bot", "ai_search", "ai_training")


@dataclass(frozen=True)
class Verdict:
    """The class of a client, its name and operator where it gives them, and the rule that decided."""

    client_class: str
    rule: str
    agent: str = ""
    operator: str = ""


_NAMED: dict[str, dict[str, str]] = {
    "ai_user": {
        "ChatGPT-User": "OpenAI", "Claude-User": "Anthropic", "Claude-Web": "Anthropic",
        "Perplexity-User": "Perplexity", "MistralAI-User": "Mistral", "Gemini-Deep-Research": "Google",
        "Google-NotebookLM": "Google", "Google-Gemini": "Google", "Meta-ExternalFetcher": "Meta",
        "Amzn-User": "Amazon", "DuckAssistBot": "DuckDuckGo", "cohere-ai": "Cohere", "iAskBot": "iAsk",
        "iaskspider": "iAsk", "PhindBot": "Phind", "QuillBot": "QuillBot", "LinerBot": "Liner",
        "Bing-Copilot": "Microsoft", "GrokUser": "xAI", "Grok-User": "xAI", "xAI-Grok": "xAI", "Poe-User": "Quora",
        "Kimi-User": "Moonshot", "Doubao-User": "ByteDance", "DeepSeek-User": "DeepSeek", "Character-AI": "Character.AI",
    },
    "ai_agent": {
        "claude-code": "Anthropic", "ChatGPT-Agent": "OpenAI", "OpenAI-Operator": "OpenAI", "codex-cli": "OpenAI",
        "Codex": "OpenAI", "Cursor": "Anysphere", "Windsurf": "Windsurf", "GitHubCopilot": "GitHub",
        "GitHub-Copilot": "GitHub", "copilot-cli": "GitHub", "Devin": "Cognition", "Manus-User": "Manus",
        "Manus": "Manus", "NovaAct": "Amazon", "AmazonBuyForMe": "Amazon", "amazon-q": "Amazon", "Kiro": "Amazon",
        "gemini-cli": "Google", "Google-Agent": "Google", "GoogleAgent-Mariner": "Google", "Jules": "Google",
        "opencode": "opencode", "OpenHands": "OpenHands", "aider": "aider", "Cline": "Cline", "RooCode": "Roo",
        "browser-use": "Browser Use", "Replit-Agent": "Replit", "TwinAgent": "Twin", "qwen-code": "Alibaba",
        "goose": "Block", "Sourcegraph-Cody": "Sourcegraph", "AgentGPT": "AgentGPT", "AutoGPT": "AutoGPT",
    },
    "ai_search": {
        "OAI-SearchBot": "OpenAI", "Claude-SearchBot": "Anthropic", "PerplexityBot": "Perplexity", "YouBot": "You.com",
        "Amzn-SearchBot": "Amazon", "meta-webindexer": "Meta", "AzureAI-SearchBot": "Microsoft", "Andibot": "Andi",
        "LinkupBot": "Linkup", "TavilyBot": "Tavily", "ExaBot-AI": "Exa", "bigsur.ai": "Big Sur AI", "wpbot": "QuantumCloud",
        "Cloudflare-AutoRAG": "Cloudflare", "Channel3Bot": "Channel3", "ShapBot": "Parallel", "Anomura": "Direqt",
    },
    "ai_training": {
        "GPTBot": "OpenAI", "ClaudeBot": "Anthropic", "anthropic-ai": "Anthropic", "CCBot": "Common Crawl",
        "Google-Extended": "Google", "Google-CloudVertexBot": "Google", "Bytespider": "ByteDance",
        "TikTokSpider": "ByteDance", "Meta-ExternalAgent": "Meta", "FacebookBot": "Meta", "Amazonbot": "Amazon",
        "bedrockbot": "Amazon", "Applebot-Extended": "Apple", "cohere-training-data-crawler": "Cohere",
        "AI2Bot": "Ai2", "Ai2Bot-Dolma": "Ai2", "Diffbot": "Diffbot", "Omgilibot": "Webz.io", "Omgili": "Webz.io",
        "Webzio-Extended": "Webz.io", "img2dataset": "img2dataset", "Timpibot": "Timpi",
        "VelenPublicWebCrawler": "Velen", "PanguBot": "Huawei", "Kangaroo": "Kangaroo LLM", "DeepSeekBot": "DeepSeek",
        "SBIntuitionsBot": "SB Intuitions", "ImagesiftBot": "Hive", "Cotoyogi": "ROIS", "Crawlspace": "Crawlspace",
        "FriendlyCrawler": "unknown", "ChatGLM-Spider": "Zhipu", "aiHitBot": "aiHit", "Thinkbot": "Thinkbot",
        "WRTNBot": "Wrtn", "ICC-Crawler": "NICT", "EchoboxBot": "Echobox", "MistralBot": "Mistral",
        "LAIONDownloader": "LAION", "QualifiedBot": "Qualified", "xAI-Bot": "xAI", "GrokBot": "xAI", "MyCentralAIScraperBot": "unknown",
    },
    "search_crawler": {
        "Googlebot": "Google", "Googlebot-Image": "Google", "Googlebot-News": "Google", "Googlebot-Video": "Google",
        "Storebot-Google": "Google", "Google-InspectionTool": "Google", "GoogleOther": "Google", "bingbot": "Microsoft",
        "msnbot": "Microsoft", "BingPreview": "Microsoft", "adidxbot": "Microsoft", "Slurp": "Yahoo",
        "DuckDuckBot": "DuckDuckGo", "Baiduspider": "Baidu", "YandexBot": "Yandex", "Sogou": "Sogou",
        "Applebot": "Apple", "SeznamBot": "Seznam", "PetalBot": "Huawei", "Yeti": "Naver", "NaverBot": "Naver",
        "MojeekBot": "Mojeek", "coccocbot": "Coc Coc", "360Spider": "Qihoo", "Qwantify": "Qwant", "Qwantbot": "Qwant",
        "Exabot": "Exalead", "Daum": "Kakao", "YisouSpider": "Yisou", "MegaIndex": "MegaIndex", "Bravebot": "Brave",
        "Kagibot": "Kagi", "Teoma": "Ask", "ia_archiver": "Internet Archive", "archive.org_bot": "Internet Archive",
    },
}  # fmt: skip

_CLASS_OF = {name.lower(): (kind, name, operator) for kind, names in _NAMED.items() for name, operator in names.items()}
_NAMES = re.compile(
    r"(?<![\w-])(" + "|".join(re.escape(name) for name in sorted(_CLASS_OF, key=len, reverse=True)) + r")(?![\w-])",
    re.IGNORECASE,
)

# Companies and models whose clients say their name: `Acme-GPT-User/1.0`, `FooClaudeBot`.
_AI_WORD = r"(?:chatgpt|gpt|openai|llm|claude|anthropic|perplexity|mistral|gemini|copilot|cohere|deepseek|qwen|grok|llama|moonshot|kimi|langchain|llamaindex|huggingface)"
_AI_FAMILY = re.compile(rf"(?<![\w.-])([\w.-]*{_AI_WORD}[\w.-]*)", re.IGNORECASE)
_AI_SUFFIX = re.compile(
    r"(?<![\w.-])([\w.-]*(?:AI|-ai|\.ai)[-_]?(?:user|agent|bot|crawler|spider|search(?:bot)?|fetcher|assistant)[\w-]*)(?![\w@])"
)
_USER_SUFFIX = re.compile(r"(?<![\w.-])([A-Z][\w.]*-User)(?=/\d|[;)\s]|$)")
_CODE_AGENT = re.compile(r"(?<![\w-])([\w-]*(?:coding|code|browser|web|ai)[-_ ]?agents?)(?![\w-])", re.IGNORECASE)

_AI_HOME = re.compile(r"https?://(?:[\w-]{1,63}\.){1,4}ai(?=[/);,\s]|$)")  # a bot at home under .ai

_HTTP_CLIENT = re.compile(
    r"^\W*(?:curl|wget|libcurl|python|httpx|aiohttp|axios|node|node-fetch|undici|got|okhttp|java|go-http-client|"
    r"libwww-perl|lwp|ruby|faraday|php|guzzlehttp|guzzle|postmanruntime|insomnia|httpie|deno|bun|reqwest|ureq|hyper|"
    r"apache-httpclient|dart|winhttp|powershell|rest-client|restsharp|http\.rb|typhoeus|mechanize|scrapy|colly|"
    r"urllib|pycurl|superagent|needle|ky|fetch|resty|fasthttp|feign|unirest|aria2|lua-resty-http|elixir|hackney|"
    r"finch|req|jakarta|apachebench|ab|siege|hey|vegeta|k6|wrk|jmeter|axel)(?=[\s/;_.-]|$)|python-requests|python-urllib",
    re.IGNORECASE,
)
_BOT = re.compile(
    r"(?:(?<!cu)bot|crawler|crawl|spider|scraper|archiver|validator|checker|indexer|fetcher|prober)(?:s?(?=[^a-z]|$))"
    r"|(?<![a-z])(?:bot|spider|crawl|scan|monitor|preview|uptime|feed|rss|probe|lighthouse|headless|phantomjs|"
    r"selenium|puppeteer|playwright|slurp|facebookexternalhit|whatsapp/|skypeuripreview|mediapartners|adsbot|"
    r"pingdom|gtmetrix|pagespeed|ptst|cloudflare-|nmap|nikto|nuclei|sqlmap|masscan|zgrab|censys|nessus|qualys|acunetix)"
    r"|\+https?://|^Mozilla/[\d.]+[ +]\((?:compatible; )?(?!MSIE|Konqueror)[A-Z][\w.-]*(?:/[\w.]+)?[;)] ?(?:\+?https?:.*)?$"
    r"|@[\w-]+\.[a-z]{2,}",
    re.IGNORECASE,
)
_BROWSER = re.compile(
    r"^.{0,2}(?:Mozilla/\d|Opera/\d|Mozilla \d|AppleWebKit/|BlackBerry|Nokia|SonyEricsson|SAMSUNG|LG-|Dalvik/|Lynx|Links|"
    r"w3m|ELinks|IBrowse|Outlook)|UCBrowser|CFNetwork/",
    re.IGNORECASE,
)


def classify(user_agent: str) -> Verdict:
    """The verdict on a user agent; only its first 512 characters count."""
    return _classify(user_agent[:LONGEST].strip())


@functools.lru_cache(maxsize=10_000)
def _classify(text: str) -> Verdict:
    if not text:
        return Verdict("http_client", "no user agent")
    if found := _NAMES.search(text):
        kind, name, operator = _CLASS_OF[found[1].lower()]
        return Verdict(kind, f"name: {name}", name, operator)
    if found := _AI_FAMILY.search(text) or _AI_SUFFIX.search(text):
        name = found[1].strip(".-")[:80]
        return Verdict(_ai_class(name), f"AI family: {name}"[:80], name)
    if found := _USER_SUFFIX.search(text):
        return Verdict("ai_user", f"fetches for a user: {found[1]}"[:80], found[1][:80])
    if found := _CODE_AGENT.search(text):
        return Verdict("ai_agent", f"calls itself an agent: {found[1]}"[:80], found[1][:80])
    if found := _AI_HOME.search(text):
        name = _first_name(text)
        return Verdict(_ai_class(name), f"at home under .ai: {name}"[:80], name)
    if found := _HTTP_CLIENT.search(text):
        return Verdict("http_client", "HTTP library", found[0].strip(" /")[:80])
    if found := _BOT.search(text):
        return Verdict("other_bot", f"mark of a bot: {found[0]}"[:80], _first_name(text))
    if _BROWSER.search(text):
        return Verdict("human", "looks like a browser")
    return Verdict("http_client", "not a browser", _first_name(text))


def _ai_class(name: str) -> str:
    """The kind of AI client that a name of an AI family tells."""
    lowered = name.lower()
    if re.search(r"search", lowered):
        return "ai_search"
    if re.search(r"user|fetch|assist", lowered):
        return "ai_user"
    if re.search(r"bot|spider|crawl|train|scrap|extended", lowered):
        return "ai_training"
    return "ai_agent"


def _first_name(text: str) -> str:
    """The first product that is not part of every browser's string."""
    for name in re.findall(r"(?<![\w.-])([A-Za-z][\w.-]*)/[\w.]+", text):
        if name not in ("Mozilla", "AppleWebKit", "Chrome", "Safari", "Gecko", "Version", "Mobile", "KHTML"):
            return str(name)[:80]
    if found := re.search(r"compatible; ([\w.-]+)", text):
        return found[1][:80]
    return re.split(r"[/\s;(]", text, maxsplit=1)[0][:80]


def is_markdown_fetch(verdict: Verdict, raw_path: str, accept: str) -> bool:
    """Whether a client that is no known crawler read a page as Markdown, which only machines do."""
    if verdict.client_class in KNOWN_CRAWLERS:
        return False
    path = raw_path.partition("?")[0].partition("#")[0].lower()
    return path.endswith((".md", ".mdx", "/llms.txt", "/llms-full.txt")) or prefers_markdown(accept)


@functools.lru_cache(maxsize=1_000)
def prefers_markdown(accept: str) -> bool:
    """Whether an Accept header asks for Markdown at least as much as for HTML."""
    weights: dict[str, float] = {}
    for item in accept.lower().split(","):
        kind, *parameters = [part.strip() for part in item.split(";")]
        quality = next((p[2:] for p in parameters if p.startswith("q=")), "1")
        weights[kind] = float(quality) if re.fullmatch(r"[01](\.\d{1,3})?", quality) else 0.0
    markdown = weights.get("text/markdown", weights.get("text/x-markdown", 0.0))
    return markdown > 0 and markdown >= weights.get("text/html", 0.0)

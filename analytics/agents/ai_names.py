"""AI clients by name: the one place to add an AI client.

To add one:

1. See how the rules classify it now: `manage.py classify "ItsName/1.0"`.
2. Add its name in the table of its class, in the line of its operator. Names are separated by a comma and a space.
   The class is what the operator says about the client: `TRAINING` (crawls for models), `SEARCH` (keeps an index for
   answers), `USER` (fetches a page because somebody asked) or `AGENT` (codes, browses, acts). A name that is also an
   ordinary word goes into `PLAIN`.
3. Raise `VERSION` in `analytics/agents/__init__.py`, once for each release.
4. Run `pytest tests/analytics/agents/test_agents.py`. It finds names that are listed twice, or that never match.

One entry stands for all spellings: `Claude-Code`, `claude_code` and `claude code` are one name. A name has at most
three words. A key in parentheses is a kind of client instead of an operator.

Seeded from ai.robots.txt and crawler-user-agents (both MIT, see THIRD-PARTY.md).
"""

from analytics.agents.user_agent_parser import word_set

# Crawlers that collect text for training models, or for data sets that are sold for training.
TRAINING = {
    "Ai2": "AI2Bot, AI2Bot-Dolma",
    "Amazon": "bedrockbot",
    "Anthropic": "ClaudeBot, anthropic-ai, Claude-Web",
    "Apify": "ApifyBot, ApifyWebsiteContentCrawler",
    "Apple": "Applebot-Extended",
    "Baidu": "ERNIEBot",
    "Bright Data": "Brightbot",
    "ByteDance": "Bytespider, TikTokSpider, imageSpider, ByteSpider-Image, DoubaoBot, SeedBot",
    "Cohere": "cohere-training-data-crawler",
    "Common Crawl": "CCBot",
    "Cotoyogi": "Cotoyogi",
    "CragSoftware": "CragCrawler",
    "Crawl4AI": "Crawl4AI",
    "Crawlspace": "Crawlspace",
    "DeepSeek": "DeepSeekBot, DeepSeek-Crawler",
    "Diffbot": "Diffbot",
    "ExteContextCrawl": "ExteContextCrawl",
    "FactSet": "Factset_spyderbot",
    "Google": "Google-Extended",
    "Hive": "ImagesiftBot",
    "Huawei": "PanguBot",
    "Hugging Face": "HuggingFaceBot, datatrove, FineWeb",
    "ISS": "ISSCyberRiskCrawler",
    "Inflection": "InflectionBot",
    "Kangaroo LLM": "Kangaroo Bot, KangarooLLM",
    "Kunato": "KunatoCrawler",
    "LAION": "LAIONDownloader, laion-huggingface-processor, img2dataset, video2dataset",
    "Lightpanda": "Lightpanda",
    "Meta": "Meta-ExternalAgent, FacebookBot",
    "Mistral": "MistralBot, MistralAI-Bot",
    "Naver": "HyperCLOVA, ClovaBot",
    "NICT": "ICC-Crawler",
    "OpenAI": "GPTBot",
    "Poseidon Research": "Poseidon Research Crawler",
    "Reflection": "Reflectionbot",
    "Reka": "RekaBot",
    "Replicate": "Replicate-Bot",
    "SB Intuitions": "SBIntuitionsBot",
    "Semantic Visions": "semantic-visions.com, semantic-visions-discovery",
    "Sidetrade": "Sidetrade indexer bot",
    "Spawning": "Spawning-AI",
    "Spider": "spider-rs, spider-cloud",
    "TaraGroup": "TaraGroup Intelligent Bot",
    "Thinkbot": "Thinkbot",
    "Timpi": "Timpibot",
    "Together": "Together-Bot",
    "TuringOS": "TSM-turingos",
    "Velen": "VelenPublicWebCrawler",
    "Webz.io": "omgili, omgilibot, Webzio-Extended",
    "Wrtn": "WRTNBot",
    "xAI": "GrokBot, xAI-Bot, xAI-Crawler",
    "Yandex": "YandexAdditional, YandexAdditionalBot, YandexGPT",
    "Zhipu": "ChatGLM-Spider, GLMBot, ZhipuBot",
    "(unknown)": "FriendlyCrawler, MyCentralAIScraperBot, The Knowledge AI, ImageMind, Novellum, StableBot, NagetBot",
}

# Crawlers that keep an index for an assistant or an answer engine.
SEARCH = {
    "AISearchBot": "AISearchBot",
    "Algolia": "Algolia AI Crawler",
    "Amazon": "Amazonbot, Amzn-SearchBot, amazon-kendra, KendraBot, amazon-QBusiness",
    "Andi": "Andibot, AndiSearch",
    "Anthropic": "Claude-SearchBot",
    "Aranet": "Aranet-SearchBot",
    "Atlassian": "atlassian-bot, RovoBot",
    "Big Sur AI": "bigsur.ai",
    "Ceramic": "TerraCotta",
    "Channel3": "Channel3Bot",
    "Chatbase": "ChatbaseBot, Chatbase-Crawler",
    "Cloudflare": "Cloudflare-AutoRAG, Cloudflare-AI-Search",
    "Direqt": "Anomura",
    "Exa": "ExaSearchBot, ExaCrawler",
    "Flyriver": "Flyriverbot",
    "Glean": "GleanBot, Glean-Crawler",
    "Google": "Google-CloudVertexBot, CloudVertexBot",
    "iAsk": "iAskBot, iaskspider",
    "Inkeep": "InkeepBot, Inkeep-Crawler",
    "Kapa": "KapaBot, kapa.ai",
    "Klaviyo": "KlaviyoAIBot",
    "Komo": "KomoBot, KomoSearch",
    "Liner": "LinerBot",
    "Linkup": "LinkupBot",
    "Lyrenth": "AIWebIndex",
    "Meta": "Meta-WebIndexer",
    "Microsoft": "AzureAI-SearchBot",
    "NewsAI": "newsai",
    "Nimble": "NimbleBot, NimbleSearch",
    "OpenAI": "OAI-SearchBot, SearchGPT",
    "Parallel": "ShapBot",
    "Perplexity": "PerplexityBot",
    "Phind": "PhindBot",
    "Qualified": "QualifiedBot",
    "QuantumCloud": "wpbot",
    "Querit": "Querit-SearchBot, QueritBot",
    "Sider": "SiderBot",
    "Tavily": "TavilyBot",
    "Valyu": "HenkBot, ValyuBot",
    "You.com": "YouBot",
    "Zanista": "ZanistaBot",
}

# Assistants that fetch a page because somebody asked a question or gave the address.
USER = {
    "Ai2": "AI2Bot-DeepResearchEval",
    "Alibaba": "TongyiBot, QwenBot, Qwen-User, Quark-AI",
    "Amazon": "Amzn-User, Alexa-User, Rufus-User",
    "Anthropic": "Claude-User",
    "Apple": "Siri-User, AppleIntelligence-User",
    "Baidu": "YiyanBot, Yiyan-User, ERNIE-User",
    "Brave": "Brave-Leo, LeoAI, Brave-AI-Fetcher",
    "ByteDance": "Doubao-User, Coze-User, CozeBot",
    "Character.AI": "Character-AI",
    "ChitChat": "linkReader",
    "Cohere": "cohere-ai, Cohere-User",
    "Consensus, Elicit, scite": "ConsensusBot, ElicitBot, Elicit-User",
    "DeepSeek": "DeepSeek-User",
    "Dia, Arc": "ArcSearch, Arc-Max",
    "DuckDuckGo": "DuckAssistBot, DuckAssist, Duck.ai",
    "Exa": "Exa-User, ExaFetcher",
    "Felo": "FeloBot, Felo-Search",
    "Firecrawl": "FirecrawlAgent, Firecrawl, FirecrawlBot",
    "GeistHaus": "GeistHaus-PageFetcher",
    "Genspark": "Genspark, GensparkBot",
    "Google": (
        "Gemini-Deep-Research, Google-NotebookLM, NotebookLM, Google-Gemini, GoogleAgent-URLContext, "
        "Google-Firebase, Gemini-User, Google-Pinpoint"
    ),
    "iAsk": "iAsk-User",
    "Isonai": "IsonAI-User",
    "Jina": "JinaReader, JinaBot, Jina-AI, JinaAI-User, r.jina.ai",
    "Kagi": "kagi-fetcher, Kagi-Assistant, Kagi-Summarizer, Kagi-User",
    "Linkup": "Linkup-User, LinkupFetcher",
    "Meta": "Meta-ExternalFetcher, MetaAI-User",
    "Metaso": "MetasoBot",
    "Microsoft": "Bing-Copilot, Copilot-User, MicrosoftCopilot, BingChat",
    "Mistral": "MistralAI-User, LeChat",
    "Monica": "MonicaBot, Monica-User",
    "Moonshot": "Kimi-User, KimiBot",
    "Mozilla": "Mozilla-Tabstack, Tabstack, Orbit-by-Mozilla",
    "Notion": "NotionAI, Notion-AI-User",
    "OpenAI": "ChatGPT-User",
    "Parallel": "Shap-User",
    "Perplexity": "Perplexity-User",
    "Phind": "Phind-User",
    "Poggio": "Poggio-Citations",
    "QuillBot": "QuillBot, quillbot.com",
    "Quora": "Poe-User, PoeBot",
    "Raycast": "Raycast-AI",
    "Readwise": "Readwise-Ghostreader",
    "Tavily": "Tavily-User, TavilyExtract",
    "Tencent": "Yuanbao-User, YuanbaoBot, HunyuanBot, Hunyuan-User",
    "Use AI": "UseAI",
    "xAI": "GrokUser, xAI-Grok, Grok-DeepSearch",
    "You.com": "You-User, YouChat",
    "(self-hosted)": (
        "AnythingLLM, LibreChat, Open-WebUI, LobeChat, NextChat, PrivateGPT, Khoj, Perplexica, Dify, Flowise, "
        "Langflow, Onyx-Connector, Danswer, Quivr, LM-Studio, BigAGI, ChatBox, TypingMind, Msty"
    ),
}

# Agents that code, browse and act, in a terminal, an editor or a browser of their own.
AGENT = {
    "aider": "aider-chat, aider-ai",
    "Alibaba": "qwen-code, Qoder, Lingma, iFlow-CLI",
    "All Hands": "OpenHands, OpenDevin",
    "Amazon": "NovaAct, AmazonBuyForMe",
    "Anchor": "Anchor-Browser",
    "Anthropic": "claude-code, claude-cli, Claude-Desktop, Claude-Cowork, Claude-Computer-Use, claude-agent-sdk",
    "Augment": "AugmentCode, Augment-Agent, auggie",
    "AutoGPT": "AutoGPT, AgentGPT, BabyAGI",
    "AWS": (
        "AmazonQ-For-CLI, Amazon-Bedrock-AgentCore, Amazon-Bedrock-AgentCore-Browser, AmazonQ, Amazon-Q-CLI, "
        "Amazon-Q-Developer, Kiro-CLI, Kiro-IDE, Strands-Agents"
    ),
    "Block": "goose-ai, block-goose, codename-goose",
    "Browser Use": "browser-use",
    "Browserbase": "Browserbase, Stagehand",
    "ByteDance": "Trae-CLI, Trae-Agent, TARS-Agent, UI-TARS, DeerFlow",
    "Charm": "charm-crush",
    "Cline": "cline-bot, Cline-CLI",
    "CodeRabbit": "CodeRabbit, CodeRabbitBot",
    "Cognition": "DevinAI, DeepWiki, Windsurf, Codeium",
    "Continue": "continue-dev, ContinueCLI",
    "Convergence": "ProxyAgent-Convergence, Convergence-Proxy",
    "crewAI": "crewAI",
    "Cursor": "Cursor-Agent, Cursor-CLI, CursorBot, cursor-background-agent",
    "Factory": "factory-cli, factory-droid, droid-cli",
    "Fellou": "Fellou",
    "GitHub": (
        "GitHubCopilot, copilot-cli, Copilot-Chat, GithubCopilotChat, copilot-coding-agent, copilot-swe-agent, "
        "VSCode-Copilot, Spark-Agent"
    ),
    "Google": (
        "Google-Agent, GoogleAgent-Mariner, Project-Mariner, gemini-cli, Google-Gemini-CLI, Jules-Agent, "
        "Google-Jules, Antigravity, Gemini-Code-Assist, Firebase-Studio"
    ),
    "Greptile": "Greptile, GreptileBot",
    "Hyperbrowser": "Hyperbrowser, HyperAgent",
    "HyperWrite": "HyperWriteAgent",
    "JetBrains": "JetBrains-AI, JetBrains-Junie, Junie-CLI, JetBrains-AI-Assistant",
    "Kilo Code": "KiloCode",
    "LangChain": (
        "LangChain, langchainjs, DefaultLangchainUserAgent, LangGraph, LangSmith, open-deep-research, DeepAgents"
    ),
    "Letta": "Letta, MemGPT",
    "Lindy": "LindyAI, Lindy-Agent",
    "LlamaIndex": "LlamaIndex, LlamaParse, llama-hub",
    "Lovable": "LovableBot, Lovable-Agent",
    "Manus": "Manus-User, ManusBot, ManusAgent",
    "Microsoft": "AutoGen, Magentic-One, Magentic-UI, SemanticKernel, TaskWeaver, markitdown-mcp",
    "Mistral": "mistral-vibe, Devstral",
    "Model Context Protocol": "ModelContextProtocol, MCP-Server-Fetch",
    "Moonshot": "kimi-cli, Kimi-Code",
    "MultiOn": "MultiOn",
    "Notion": "Notion-Agent",
    "Notte": "NotteBrowser, Notte-Agent",
    "Nous": "Hermes-Agent",
    "OpenAI": (
        "ChatGPT-Agent, OpenAI-Operator, OpenAI-Codex, codex-cli, codex-rs, codex_cli_rs, codex_exec, "
        "codex_vscode, Codex-Cloud, OpenAI-CUA, ChatGPT-Atlas"
    ),
    "OpenClaw": "OpenClaw, Clawdbot, Moltbot",
    "opencode": "opencode, opencode-ai",
    "OpenRouter": "OpenRouter",
    "Perplexity": "Perplexity-Comet, Comet-Agent, Perplexity-Computer",
    "Plandex": "Plandex",
    "Princeton": "SWE-agent, mini-swe-agent",
    "Relevance AI": "RelevanceAI, Relevance-Agent",
    "Replit": "Replit-Agent",
    "Roo Code": "RooCode, Roo-Cline",
    "Runner H": "RunnerH, Surfer-H",
    "ScrapeGraph": "ScrapeGraph, ScrapeGraphAI, AgentQL",
    "Simular": "Simular",
    "Skyvern": "Skyvern",
    "smol": "smolagents, smol-developer, GPT-Engineer, GPT-Researcher, MetaGPT, ChatDev",
    "Sourcegraph": "Sourcegraph-Cody, Cody-Agent, Ampcode, sourcegraph-amp, amp-cli",
    "StackBlitz": "bolt.new, Bolt-Agent",
    "Steel": "steel-browser",
    "Tabnine": "Tabnine",
    "Twin": "TwinAgent",
    "Vercel": "v0bot, v0-agent, v0-fetch, v0-user, ai-sdk",
    "Warp": "Warp-Agent, Oz-Agent",
    "Zed": "zed-agent, ZedIndustries",
}

# Agents whose names are also ordinary words, devices or other products. Such a name matches only with a version and
# outside of the description of a device, or after `compatible;`, or as the first word.
PLAIN = {
    "aider": "aider",
    "Amazon": "Kiro",
    "Augment": "Augment",
    "Block": "goose",
    "ByteDance": "Trae",
    "Charm": "Crush",
    "Cline": "Cline",
    "Cognition": "Devin",
    "Continue": "Continue",
    "Cursor": "Cursor",
    "Factory": "droid",
    "GitHub": "Code",
    "Google": "Jules",
    "gptme": "gptme",
    "JetBrains": "Junie",
    "Manus": "Manus",
    "Melty": "Melty",
    "OpenAI": "Codex, Operator",
    "PearAI": "PearAI",
    "Sourcegraph": "Amp, Cody",
    "Tabby": "TabbyML",
    "Void": "Void",
    "Warp": "Warp",
    "Zed": "Zed",
}

# Hosts of AI companies: a client that links to one of them is AI. Hosts under `.ai` need no entry.
HOMES = word_set(
    """
    ai21.com aider.chat allenai.org ampcode.com anthropic.com augmentcode.com bigmodel.cn browser-use.com
    browserbase.com chatglm.cn chatgpt.com claude.com cline.bot codeium.com cohere.com commoncrawl.org
    copilot.microsoft.com cursor.com cursor.sh deepseek.com diffbot.com direqt.com doubao.com elevenlabs.io felo.me
    firecrawl.dev gemini.google gemini.google.com geminicli.com getliner.com getonyx.app groq.com huggingface.co
    iask.com imagesift.com inkeep.com jules.google khoj.dev kimi.com kiro.dev labs.google langchain.com linkup.so
    llamaindex.com lovable.dev manus.im metaso.cn midjourney.com minimax.io modelcontextprotocol.io moonshot.cn
    notebooklm.google.com novaact.com ollama.com openai.com opencode.dev openrouter.com phind.com poe.com
    quillbot.com qwenlm.com replicate.com replit.com roocode.com spider.cloud spider.com stepfun.com tavily.com
    timpi.io tongyi.com windsurf.com you.com zed.dev zhipuai.cn
    """
)

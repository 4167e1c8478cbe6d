"""AI assistants: the operator of each one's clients, and the hosts from which it sends people."""

from typing import NamedTuple


class Assistant(NamedTuple):
    """An assistant, the operator of its clients as the rules name it, and the sources of its readers."""

    name: str
    operator: str
    hosts: tuple[str, ...]


ASSISTANTS = tuple(
    Assistant(name, operator, tuple(hosts.split()))
    for name, operator, hosts in (
        ("ChatGPT", "OpenAI", "chatgpt.com chat.openai.com openai.com"),
        ("Claude", "Anthropic", "claude.ai"),
        ("Gemini", "Google", "gemini.google.com bard.google.com aistudio.google.com notebooklm.google.com"),
        ("Perplexity", "Perplexity", "perplexity.ai"),
        ("Copilot", "Microsoft", "copilot.microsoft.com copilot.cloud.microsoft m365.cloud.microsoft "
         "edgeservices.bing.com"),
        ("DeepSeek", "DeepSeek", "chat.deepseek.com deepseek.com"),
        ("Mistral", "Mistral", "chat.mistral.ai mistral.ai"),
        ("Grok", "xAI", "grok.com x.ai"),
        ("Meta AI", "Meta", "meta.ai"),
        ("DuckDuckGo", "DuckDuckGo", "duck.ai"),
        ("Kimi", "Moonshot", "kimi.com kimi.moonshot.cn"),
        ("Qwen", "Alibaba", "chat.qwen.ai tongyi.aliyun.com"),
        ("Doubao", "ByteDance", "doubao.com"),
        ("Ernie", "Baidu", "yiyan.baidu.com"),
        ("Z.ai", "Zhipu", "chatglm.cn chat.z.ai"),
        ("You.com", "You.com", "you.com"),
        ("Phind", "Phind", "phind.com"),
        ("Poe", "Quora", "poe.com"),
        ("Cursor", "Cursor", "cursor.com"),
    )
)  # fmt: skip

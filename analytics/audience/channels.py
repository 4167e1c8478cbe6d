"""The hosts of referrers by channel, and the names that campaigns use for them.

A host stands for itself and the hosts below it: `reddit.com` is also `old.reddit.com`. The longest host
decides. `google.*` is google.com, google.co.uk and so on, but nothing below them: `docs.google.com` is a site
like any other.
"""

import functools

AI, SEARCH, SOCIAL, CODE, OTHER_SITE = "ai", "search", "social", "code", "other"

CHANNELS = {
    "direct": "Direct",
    SEARCH: "Search engines",
    AI: "AI assistants",
    SOCIAL: "Social networks",
    CODE: "Code hosts and forums",
    OTHER_SITE: "Other sites and campaigns",
    "internal": "Within the site",
}

_HOSTS = {
    AI: """
        chatgpt.com chat.openai.com openai.com perplexity.ai claude.ai gemini.google.com bard.google.com
        aistudio.google.com notebooklm.google.com copilot.microsoft.com copilot.cloud.microsoft m365.cloud.microsoft
        edgeservices.bing.com chat.deepseek.com deepseek.com chat.mistral.ai mistral.ai grok.com x.ai meta.ai poe.com
        you.com phind.com duck.ai kimi.com kimi.moonshot.cn chat.qwen.ai tongyi.aliyun.com
        doubao.com yiyan.baidu.com chatglm.cn chat.z.ai felo.ai genspark.ai iask.ai andisearch.com komo.ai devv.ai
        pi.ai character.ai monica.im t3.chat liner.com consensus.app manus.im cursor.com
        windsurf.com deepwiki.com context7.com
    """,
    SEARCH: """
        google.* bing.com bing.* duckduckgo.com html.duckduckgo.com lite.duckduckgo.com search.yahoo.com yahoo.com
        search.yahoo.co.jp yandex.* ya.ru baidu.com ecosia.org qwant.com startpage.com search.brave.com kagi.com
        mojeek.com swisscows.com naver.com search.naver.com daum.net search.daum.net seznam.cz sogou.com so.com
        metager.org metager.de searx.be presearch.com search.aol.com aol.com ask.com dogpile.com search.marginalia.nu
        lens.google.com cse.google.com coccoc.com rambler.ru ixquick.com gigablast.com stract.com
        com.google.android.googlequicksearchbox
    """,
    SOCIAL: """
        x.com twitter.com t.co facebook.com fb.com l.facebook.com lm.facebook.com messenger.com instagram.com
        threads.net threads.com linkedin.com lnkd.in com.linkedin.android reddit.com out.reddit.com redd.it
        com.reddit.frontpage youtube.com youtu.be tiktok.com pinterest.com pinterest.* tumblr.com bsky.app
        mastodon.social fosstodon.org hachyderm.io mastodon.online mstdn.social infosec.exchange ruby.social
        discord.com discord.gg slack.com app.slack.com t.me telegram.org web.telegram.org whatsapp.com wa.me vk.com
        weibo.com zhihu.com snapchat.com quora.com medium.com vimeo.com twitch.tv line.me org.telegram.messenger
        teams.microsoft.com
    """,
    CODE: """
        github.com gist.github.com gitlab.com bitbucket.org codeberg.org sourceforge.net sr.ht gitea.com launchpad.net
        stackoverflow.com stackexchange.com serverfault.com superuser.com askubuntu.com stackapps.com
        news.ycombinator.com lobste.rs dev.to hashnode.com hashnode.dev npmjs.com pypi.org crates.io docs.rs lib.rs
        rubygems.org packagist.org nuget.org pkg.go.dev hub.docker.com hex.pm cocoapods.org codepen.io codesandbox.io
        stackblitz.com replit.com jsfiddle.net huggingface.co kaggle.com daniweb.com coderanch.com codeproject.com
        forum.djangoproject.com discuss.python.org discourse.org producthunt.com alternativeto.net
    """,
}
_BY_HOST = {host: channel for channel, hosts in _HOSTS.items() for host in hosts.split()}
# What campaigns write as `utm_source`, where that is no host.
_BY_NAME = {
    **dict.fromkeys(("chatgpt", "openai", "perplexity", "claude", "gemini", "copilot", "deepseek", "grok"), AI),
    **dict.fromkeys(("google", "bing", "duckduckgo", "yahoo", "yandex", "baidu", "ecosia", "brave"), SEARCH),
    **dict.fromkeys(
        ("twitter", "x", "facebook", "fb", "instagram", "linkedin", "reddit", "youtube", "mastodon", "bluesky",
         "discord", "slack", "telegram", "tiktok"), SOCIAL
    ),
    **dict.fromkeys(("github", "gitlab", "stackoverflow", "hackernews", "hn", "devto", "producthunt"), CODE),
}  # fmt: skip


def channel_of_host(host: str) -> str:
    """The channel of a host in lower case, without `www.`; a host that is in no list is another site."""
    labels = host.split(".")
    for start in range(max(0, len(labels) - 4), len(labels) - 1):
        if channel := _BY_HOST.get(".".join(labels[start:])):
            return channel
    top = labels[1:]
    if 1 <= len(top) <= 2 and all(len(label) <= 3 for label in top):
        return _BY_HOST.get(f"{labels[0]}.*", OTHER_SITE)
    return OTHER_SITE


@functools.lru_cache(1_000)
def channel_of_name(name: str) -> str:
    """The channel of a campaign's source: a host, or a name such as `newsletter`."""
    return _BY_NAME.get(name) or (channel_of_host(name) if "." in name else OTHER_SITE)

"""Recognize browsers, and apps that show pages, on computers, phones, televisions and consoles."""

import re

from analytics.agents.user_agent import word_set

_BEGINS = re.compile(
    r".{0,2}(?:Mozilla[/ ]\d|ozilla/|AppleWebKit/|Chrome/|OPR/|Opera[/ ]|nook |BlackBerry|Nokia|SonyEricsson|SAMSUNG|"
    r"SEC-|LGE?[-/ ]|MOT[-/]|ZTE|HUAWEI|Alcatel|Dalvik/|UCWEB|JUC ?\(|DoCoMo|KDDI|SoftBank|Vodafone|J-PHONE|Roku|"
    r"iP(?:hone|ad|od)|smarttv|BrightSign|Lynx|E?Links\b|w3m|retawq|amaya|Emacs|IBrowse|AmigaVoyager|Dillo|NetSurf|"
    r"HotJava|iCab|Galaxy/|Contiki|NCSA|Surf/|Midori|Galeon|OmniWeb|OneBrowser|Sleipnir|Avant Browser|MQQBrowser|"
    r"Instagram|Snapchat|Pinterest|TikTok|WeChat|MicroMessenger|Twitter|Spotify|Outlook|Microsoft Office|"
    r"iTunes|QuickTime|Windows-Media|NSPlayer|VLC|Kodi|GOGGalaxy|AppleCoreMedia|stagefright)",
    re.IGNORECASE,
)
_HOLDS = re.compile(
    r"AppleWebKit|Mozilla/\d|Gecko/|UCBrowser|CFNetwork/|MIDP|UP\.Browser|Opera Mini|NetFront|Obigo|\[FBAN/|FBAV/|"
    r"HbbTV|Sonos/|Teleca|BrowserNG|Maui|Nintendo|W[Aa][Pp]-?Browser|wap-?Browser|\.Browser/| Browser/|Android/\d|"
    r"Cronet/|"
    r"\((?:[^()]{0,60};)? ?(?:iPhone|iPad|iOS|watchOS|tvOS|Android|Windows NT|Macintosh|Mac OS X)\b"
)
# Names that old browsers put after `compatible;`, where bots put their own. Digits are left out: `x` is X11.
_OLD = word_set(
    """
    abrowse amiga android antgalio aol avantgo beonex blazer browsex chrome dillo elaine escape galeon gecko googletv
    ibrowse icab ie iphone khtml kindle konqueror links linux lynx macintosh maui maxthon mosaic msie mspie netfront
    netpositive netsurf nitro obigo omniweb opera palm palmos palmsource playstation polaris rv safari series skyfire
    symbian symbianos synapse teleca trident u ucweb voyager webtv wii windows x
    """
)
_FIRST_WORD = re.compile(r"[a-z]+")


def looks_like_browser(text: str) -> bool:
    """Whether a user agent looks like that of a browser, or of an app that shows pages."""
    return bool(_BEGINS.match(text) or _HOLDS.search(text))


def is_full_browser(text: str) -> bool:
    """Whether a user agent names a browser engine, as browsers and apps with a web view do."""
    return text.startswith("Mozilla/") and ("AppleWebKit/" in text or "Gecko/" in text)


def is_old_browser(name: str) -> bool:
    """Whether a name after `compatible;` is that of an old browser or its operating system."""
    first = _FIRST_WORD.match(name.lower())
    return first is not None and first[0] in _OLD

"""The device class and the browser of a person's user agent."""

import functools
import re

MAX_LENGTH = 512  # characters of a user agent that are read

# The first one that matches decides: most browsers name the ones that they descend from, too.
_BROWSERS = tuple(
    (name, re.compile(pattern))
    for name, pattern in (
        ("Edge", r"\bEdg(?:e|A|iOS)?/"),
        ("Opera", r"\b(?:OPR|OPT|OPX|Opera|Opera Mini|Opera Mobi)/|\bOpera\b"),
        ("Samsung Internet", r"\bSamsungBrowser/"),
        ("Yandex Browser", r"\bYaBrowser/"),
        ("UC Browser", r"\b(?:UCBrowser|UCWEB)"),
        ("Vivaldi", r"\bVivaldi/"),
        ("DuckDuckGo", r"\b(?:DuckDuckGo|Ddg)/"),
        ("In an app", r"\[FB|\bFBAV/|\b(?:Instagram|LinkedInApp|Twitter|Snapchat|Line|MicroMessenger|GSA)\b"),
        ("Firefox", r"\b(?:Firefox|FxiOS|Focus)/"),
        ("Chrome", r"\b(?:Chrome|CriOS|Chromium|HeadlessChrome)/"),
        ("Safari", r"\bVersion/[\d.]+ .*\bSafari/|\b(?:iPhone|iPad|Macintosh)\b.*\bAppleWebKit/"),
        ("Internet Explorer", r"\bMSIE |\bTrident/"),
    )
)  # fmt: skip
OTHER_BROWSER = "Other"

_TABLET = re.compile(
    r"\b(?:iPad|Tablet|PlayBook|Silk|Kindle|KF[A-Z]{2,4})\b|\bNexus (?:7|9|10)\b|\b(?:SM-[TX]\d|GT-P\d|SM-P\d)"
)
_PHONE = re.compile(r"\b(?:iPhone|iPod|Mobile|Mobi|Windows Phone|BlackBerry|BB10|Opera Mini|IEMobile|KAIOS)\b")
_DESKTOP = re.compile(r"\b(?:Windows NT|Macintosh|X11|CrOS|Linux)\b")


@functools.lru_cache(10_000)
def describe_client(user_agent: str) -> tuple[str, str]:
    """Device class and browser of a browser's user agent: `phone`, `tablet`, `desktop`, or empty."""
    user_agent = user_agent[:MAX_LENGTH]
    browser = next((name for name, pattern in _BROWSERS if pattern.search(user_agent)), OTHER_BROWSER)
    return _device_of(user_agent), browser


def _device_of(user_agent: str) -> str:
    if _TABLET.search(user_agent):
        return "tablet"
    if _PHONE.search(user_agent):
        return "phone"
    if "Android" in user_agent:  # on Android only phones say Mobile
        return "tablet"
    return "desktop" if _DESKTOP.search(user_agent) else ""

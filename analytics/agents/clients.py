"""Recognize HTTP libraries, and bots without an entry."""

from analytics.agents.browsers import is_old_browser
from analytics.agents.user_agent import Name, ParsedUserAgent, split_words, word_set

# HTTP libraries and tools, by the first name of their user agents.
_LIBRARIES = word_set(
    """
    aiohttp akkahttp alamofire apachebench apachehttpasyncclient apachehttpclient aria2 asynchttpclient axel axios
    bruno bun cljhttp cohttp colly commonshttpclient cpphttplib crystal curl dart deno dotnet elixir faraday fasthttp
    feign fetch finch go gohttpclient goresty got guzzle guzzlehttp hackney haskell hey hoppscotch http4s httpclient
    httpcore httpie httpoison httprb httpunit httpx httr httr2 hyper insomnia jakarta jakartacommonshttpclient java
    jetty jmeter jsoup julia k6 kotlin ktorclient ky lftp libcurl libsoup libwwwperl luaresty lualibresty lwp lwprequest
    lwptrivial mechanize msxml needle neon newspaper newspaper3k node nodefetch nodejs nodesuperagent okhttp paw
    pekkohttp perl php poco postmanruntime powershell pycurl python pythonaiohttp pythonhttpx pythonrequests
    pythonurllib pythonurllib3 rapidapi rclone reactornetty req requests reqwest restclient restsharp resty ruby rust
    scrapy serf siege simplepie snoopy sttp superagent swift symfonyhttpclient tesla thunderclient tornado trafilatura
    treq twisted typhoeus undici unirest unirestjava ureq urllib urllib3 vegeta webclient wget windowspowershell
    winhttp winhttprequest wininet wrk xh zendhttpclient
    """
)
_POWERSHELL = ("powershell", "windowspowershell")  # after a browser's `Mozilla/5.0 (Windows NT; …)`
_LIBRARY_ENDINGS = ("httpclient", "requests", "libcurl", "urllib", "okhttp", "nodefetch", "httplib")

# Words in the names of bots, and endings of names without separators.
_BOT_WORDS = word_set(
    """
    aggregator analyser analyzer archive archiver archiving audit auditor autocite bot bots check checker checklink
    copier crawl crawler crawlers crawling diagnostics downloader extractor favicon favicons feed feeds fetcher grabber
    harvester headless healthcheck healthchecks indexer inspector lighthouse linkcheck linkverification measurement
    mediapartners monitor monitoring monitors newsgathering nutch observatory onebox optimizer pinger preview previews
    probe prober prospecting ripper robot robots rss scan scanner scans scraper scraping screenshot searchengine seo
    sitechecker sitemap spider spyder subscribers synthetic synthetics tester thumbnail thumbnails transcoder unfurl
    uptime validation validator verification verify webhook
    """
)
_BOT_ENDINGS = ("bot", "crawler", "spider", "scraper", "crawl", "spyder", "monitor", "checker", "archiver", "sitemap")

_ENGINE = word_set("khtml like gecko safari chrome version webkit")
_LINKED_BY_BROWSERS = ("bsalsa.com", "opera.com", "obigo.com")


def find_library(parsed: ParsedUserAgent) -> str:
    """The HTTP library that a user agent begins with; empty if there is none."""
    for word in parsed.names[:3]:
        if (word.at.first and word.key in _LIBRARIES) or word.key.endswith(_LIBRARY_ENDINGS):
            return word.name
    return next((word.name for word in parsed.names if word.versioned and word.key in _POWERSHELL), "")


def find_bot_mark(text: str, parsed: ParsedUserAgent) -> str:
    """The mark of a bot: a word in a name, a link, or a name after `compatible;`. Empty if there is none."""
    for word in parsed.names:
        if _is_bot_name(word):
            return word.name
    if text.startswith("Mozilla/") and "(" not in text and len(text.split()) < 3:
        return "Mozilla without a platform"
    for host in parsed.hosts:
        if not host.endswith(_LINKED_BY_BROWSERS):
            return host
    declared = next((word.name for word in parsed.names if word.at.declared), "")
    return f"compatible; {declared}" if declared and not is_old_browser(declared) else ""


def _is_bot_name(word: Name) -> bool:
    """Whether a name is that of a bot. Names of devices do not count: some phones are called Cubot."""
    if word.name.startswith("Google-") or word.name.endswith("-Google"):
        return True
    if word.at.device or word.key == "useragent":  # some clients send the name of the header, too
        return False
    if word.at.engine and word.key not in _ENGINE:
        return True
    words = split_words(word.name)
    return word.key.endswith(_BOT_ENDINGS) or words[-1:] == ("agent",) or not _BOT_WORDS.isdisjoint(words)


def is_search_engine(parsed: ParsedUserAgent) -> bool:
    """Whether the name of a bot shows that it belongs to a search engine."""
    names = [word.key for word in parsed.names if not word.at.device]
    return any(("search" in name or "seek" in name) and not name.startswith(_NOT_SEARCH_ENGINES) for name in names)


_NOT_SEARCH_ENGINES = ("searchatlas", "googlesearchconsole", "jobsearch", "research")

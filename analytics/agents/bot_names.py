"""Clients that are not AI, by name: crawlers of search engines, and other bots.

A bot needs no entry when a word of its name says that it is one, such as `bot` or `crawler`. Listed here are bots
without such a word, and bots that the rules would otherwise take for AI. Add and test a name as in `ai_names`.
A key in parentheses is a kind of client instead of an operator.

Seeded from crawler-user-agents (MIT, see THIRD-PARTY.md).
"""

SEARCH = {
    "Ai2": "SemanticScholarBot",
    "aiHit": "aiHitBot",
    "Apple": "Applebot",
    "Ask": "Teoma, Ask Jeeves",
    "Baidu": "Baiduspider, Baiduspider-render",
    "Brave": "Bravebot",
    "Coc Coc": "coccocbot, coccoc",
    "DuckDuckGo": "DuckDuckBot, DuckDuckGo-Favicons-Bot",
    "Google": (
        "Googlebot, Storebot-Google, Google-InspectionTool, GoogleOther, Google-Site-Verification, "
        "Google-PhysicalWeb, Google-Certificates-Bridge, Google-Structured-Data-Testing-Tool, APIs-Google, "
        "Google-Safety, GoogleProducer"
    ),
    "Huawei": "PetalBot, AspiegelBot",
    "Internet Archive": "ia_archiver, archive.org_bot",
    "Kagi": "Kagibot",
    "Kakao": "Daum, Daumoa",
    "Marginalia": "search.marginalia.nu",
    "MegaIndex": "MegaIndex",
    "Microsoft": "bingbot, msnbot, BingPreview, adidxbot",
    "Mojeek": "MojeekBot",
    "Naver": "Yeti, NaverBot",
    "Qihoo": "360Spider, HaosouSpider",
    "Qwant": "Qwantify, Qwantbot",
    "Seznam": "SeznamBot, SeznamHomepageCrawler",
    "Sogou": "Sogou, Sogou web spider",
    "Yahoo": "Slurp, Y!J-ASR, Y!J-BRW, Y!J-WSC",
    "Yandex": "YandexBot, YandexImages, YandexRenderResourcesBot, YandexMobileBot, YandexAccessibilityBot",
    "Yisou": "YisouSpider",
    "(others)": (
        "DeuSu, FediIndex, Golfe, Scrubby, Searcherxweb, WeSEE, Swisscows, Seekport, grub-client, Wotbox, psbot, "
        "Speedy Spider, lyonl-asset-proxy, OICrawler, Mwmbl, Accoona-AI-Agent, AddSearchBot, Sens.ai"
    ),
}

OTHER = {
    "(browser automation)": (
        "HeadlessChrome, PhantomJS, SlimerJS, Playwright, Puppeteer, Ghost Inspector, Functionize, Selenium, "
        "Cypress, splash, Electron-Bot, TestCafe, WebDriver, Zombie.js, jsdom, HtmlUnit, rendertron, prerender"
    ),
    "Facebook": "facebookexternalhit, facebookcatalog, facebookplatform",
    "GitHub": "github-camo, GitHub-Hookshot",
    "Google": (
        "AdsBot-Google, Mediapartners-Google, FeedFetcher-Google, Google-Ads, Google-Adwords, Google-Read-Aloud, "
        "Google-Lens, Google Web Preview, Google Search Console, Google Favicon, Chrome-Lighthouse, "
        "Google-Apps-Script, Google-Youtube-Links, GoogleImageProxy, "
        "Google-Transparency-Report, Google-Speakr"
    ),
    "Known Agents": "Known Agent",
    "(monitoring)": (
        "Pingdom, GTmetrix, PTST, Catchpoint, Datadog, RuxitSynthetic, Site24x7, Hexometer, YottaaMonitor, "
        "Morningscore, ThousandEyes, StatusCake, NewRelicPinger, UptimeRobot, PageSpeed, DareBoost, WebPageTest, "
        "Checkly, updown.io, GomezAgent, Hyperping, BetterUptime, jetmon, Cloudflare-Healthchecks, "
        "Cloudflare-Traffic-Manager, Cloudflare-SpeedTest, YLT, PingdomTMS, NewRelicSynthetics, "
        "DatadogSynthetics, AppInsights, CloudflareObservatory, CloudflareDiagnostics, Hotjar, FreshPing, "
        "MxToolbox, Cronless, EasyCron, cron-job.org, Poduptime, Xymon, NodePing, check_http, ELB-HealthChecker, "
        "GoogleHC, kube-probe, Blackbox-Exporter"
    ),
    "(scanners)": (
        "Nmap, Nikto, Nuclei, sqlmap, masscan, zgrab, Censys, CensysInspect, Nessus, Qualys, Acunetix, DirBuster, "
        "gobuster, WPScan, OpenVAS, Expanse, Netcraft, Wappalyzer, BuiltWith, BW, WhatWeb, xtate, Shodan, "
        "feroxbuster, dirsearch, ffuf, Arachni, w3af, Burp, ZAP, Zmap, Detectify, Onyphe, InternetMeasurement, "
        "ModatScanner"
    ),
    "(tools)": (
        "W3C-checklink, W3C_Validator, W3C-mobileOK, Xenu Link Sleuth, LinkTiger, HTTrack, "
        "Heritrix, Nutch, WebCopier, Teleport Pro, Offline Explorer, SiteSucker, OffByOne, Webster Pro, Sindup, "
        "Specificfeeds, NetSeer, Hydra, wkhtmltopdf, wkhtmltoimage, webkit2png, Neustar WPM, brokenlinkcheck.com, "
        "Readable, Silktide, Hardenize, SecurityHeaders, Datanyze, MarketGoo, Criticalcss.com, Miniature.io, "
        "TestLocally, Collapsify, WhatCMS, Assetnote, watchTowr, Rigor, Foregenix, NewsNow, outbrain, Mixnode, Jumio, "
        "OneTrust, Brandwatch, LegalMonster, EasyBib, Embarcadero, Leikibot, SafeDNS, Turnitin, Blackboard "
        "Safeassign, AddThis, ShopWiki, IntelX, electricmonk, eCairn-Grabber, Minoru"
    ),
    "Webz.io": "webzio",
    "(no AI)": (
        "Linguee Bot, LCC, OpenGrok, ngrok, BuddyBot, jobswithgptcom-bot, LMArenaUnfurlBot, ArenaUnfurlBot, "
        "SiteScoreBot, WARDBot, MailChimp"
    ),
}

# Apps that fetch previews, feeds and articles. People read pages in them, too: these names are ignored in the user
# agent of a browser.
APPS = {
    "(previews)": (
        "Slackbot, Slack-ImgProxy, Discordbot, TelegramBot, WhatsApp, Viber, SkypeUriPreview, vkShare, Embedly, "
        "Iframely, Twitterbot, LinkedInBot, redditbot, Pinterestbot, BitlyBot, Discourse Forum Onebox, Mastodon, "
        "Pleroma, Misskey, Snap URL, Bluesky, Notion, Tumblr, Akkoma, Friendica, Lemmy, PeerTube, OutlookIMO"
    ),
    "(readers)": (
        "Feedly, Feedbin, NewsBlur, Inoreader, theoldreader.com, BazQux, Miniflux, FreshRSS, Tiny Tiny RSS, "
        "Flipboard-Proxy, FeedBurner, SilverReader, Protopage, NetNewsWire, Reeder, RSSOwl, Liferea, CommaFeed, "
        "Nextcloud-News, Feeder.co, Winds, Netvibes, Bloglines, Akregator, iTMS, Overcast, PocketCasts, Podbean, "
        "CastBox, gPodder, AntennaPod, Podcasts, Selfoss"
    ),
    "(reading lists)": "Pocket, Instapaper, Readability, Wayback, Wallabag, Linkding, Zotero",
}

"""Parse the lines of servers whose format is neither combined nor JSON: CloudFront, load balancers of AWS, HAProxy.

https://docs.aws.amazon.com/AmazonCloudFront/latest/DeveloperGuide/standard-logs-reference.html
https://docs.aws.amazon.com/elasticloadbalancing/latest/application/load-balancer-access-logs.html
https://docs.haproxy.org/3.0/configuration.html#8.2.3
"""

import re
from urllib.parse import unquote

from docsite.extras.access_logs.request import TEXT, Request, split_request, unescape, unless_empty

_DATE = re.compile(r"\d{4}-\d\d-\d\d\t\d\d:\d\d:\d\d\t", re.ASCII)
_CLOUDFRONT_FIELDS = 12  # at least; the order is fixed, and later fields were added at the end
_REQUEST_ID, _HOST = 14, 15  # columns from 0; `cs(Host)`, column 6, is the distribution and not the site


def parse_cloudfront(line: str) -> Request | None:
    """A standard log of CloudFront: fields with tabs between them, percent-encoded once or twice."""
    if not _DATE.match(line):
        return None
    fields = line.split("\t")
    if len(fields) < _CLOUDFRONT_FIELDS:
        return None
    query = unless_empty(fields[11])
    return Request(
        time=f"{fields[0]}T{fields[1]}Z",
        address=fields[4],
        method=fields[5],
        target=fields[7] + (f"?{query}" if query else ""),
        status=fields[8],
        user_agent=unquote(unquote(unless_empty(fields[10]))),
        referrer=unquote(unless_empty(fields[9])),
        host=unless_empty(fields[_HOST]) if len(fields) > _HOST else "",
        request_id=unless_empty(fields[_REQUEST_ID]) if len(fields) > _REQUEST_ID else "",
    )


_BALANCER = re.compile(
    r"(?:(?:https?|h2|grpcs|wss?) )?(\d{4}-\d\d-\d\dT[\d:.]{8,20}Z) \S+ (\S+):\d+ \S+ [\d.-]+ [\d.-]+ [\d.-]+ "
    rf"(\d{{3}}|-) (?:\d{{3}}|-) \d+ \d+ {TEXT} {TEXT}",
    re.ASCII,
)


def parse_balancer(line: str) -> Request | None:
    """A log of an Application Load Balancer of AWS, or of a classic one. It has no referrer."""
    found = _BALANCER.match(line)
    if found is None:
        return None
    time, address, status, request, user_agent = found.groups()
    method, target = split_request(unescape(request))
    return Request(time, address, method, target, status, unless_empty(unescape(user_agent)))


_HAPROXY = re.compile(
    r"(\S+):\d+ \[(\d\d/\w{3}/\d{4}:\d\d:\d\d:\d\d(?:\.\d{1,6})?)\] \S+ \S+ [+\d/-]+ (\d{3}|-1) \+?\d+ \S+ \S+ \S+ "
    r'[+\d/]+ [+\d/]+ (?:\{([^}]*)\} )?(?:\{[^}]*\} )?"([^"]*)',
    re.ASCII,
)
_USER_AGENT = re.compile(r"[A-Za-z][\w.+-]*/[\w.]")


def parse_haproxy(line: str) -> Request | None:
    """A log of HAProxy (`option httplog`). Its time has no zone, and is read as UTC.

    It has only the headers that the configuration captures, without their names: a user agent and a referrer are
    known by what they look like.
    """
    found = _HAPROXY.match(line)
    if found is None:
        return None
    address, time, status, captured, request = found.groups("")
    method, target = split_request(request)
    values = captured.split("|")
    user_agent = next((value for value in values if _USER_AGENT.match(value)), "")
    referrer = next((value for value in values if value.startswith(("http://", "https://"))), "")
    missing = "" if user_agent else "agent"
    return Request(f"{time} +0000", address, method, target, status, user_agent, referrer, missing=missing)


PARSERS = (parse_cloudfront, parse_balancer, parse_haproxy)

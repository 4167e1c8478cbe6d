"""Recognize logs that cannot be read by the first line. Say which server wrote them, and what to do instead."""

import json
from collections.abc import Mapping

_IIS = "it is a W3C log as IIS writes it, which is not read. Let what collects it write combined format or JSON"
_ENVOY = "it is in the text format of Envoy, which has no address of the reader. Let Envoy write JSON (`json_format`)"
_STORAGE = "it is a log of an S3 bucket, which is not read. Put CloudFront before the bucket, and import its logs"
_DOCUMENT = "it is one JSON document. A log has one object a line: jq -c '.[]' FILE | manage importlog DOMAIN -"
_SYSTEM = "it holds messages of programs, and no requests"
_HOSTS = {  # keys of a line that only one host writes
    "Netlify": ("site_id", "log_type", "deploy_id"),
    "Vercel": ("deploymentId", "projectId"),
}
_HOST_LACKS = (
    "it is a log drain of {host}, whose lines lack what a view needs. Those of traffic are read if they have method, "
    "status, path, time, client address and user agent"
)


def explain(first: str, comment: str) -> str:
    """What a log is of whose lines none can be read, by its first line and its first comment. Empty if unknown."""
    if "Microsoft Internet Information Services" in comment or comment.startswith("#Fields: date time s-"):
        return _IIS
    if comment.startswith(("#Fields:", "#Version:", "#Software:")):
        return "it is a W3C log; of these only CloudFront's is read, whose fields have tabs between them"
    if first.strip() in ("{", "[") or first.startswith(("[{", "[ {")):
        return _DOCUMENT
    if first.startswith("{"):
        return _explain_json(first)
    if first.startswith("[20") and '] "' in first:
        return _ENVOY
    if " REST." in first or " WEBSITE." in first:
        return _STORAGE
    return ""


def _explain_json(line: str) -> str:
    try:
        said = json.loads(line)
    except (ValueError, RecursionError):
        return "its lines begin like JSON and are none"
    if not isinstance(said, Mapping):
        return ""
    for host, keys in _HOSTS.items():
        if any(key in said for key in keys):
            return _HOST_LACKS.format(host=host)
    return _SYSTEM if "message" in said or "msg" in said or "log" in said else ""

"""Clients of Redis, whatever the form of `REDIS_URL`: for threads and for an event loop.

All keys of one command or transaction must have the same part in braces, as in `answer:{ID}:events`. A cluster
keeps keys with the same braces on one node.
"""

from typing import Any

from redis import Redis
from redis.asyncio import Redis as AsyncRedis
from redis.asyncio import RedisCluster as AsyncRedisCluster
from redis.asyncio.cluster import ClusterNode as AsyncClusterNode
from redis.asyncio.retry import Retry as AsyncRetry
from redis.asyncio.sentinel import Sentinel as AsyncSentinel
from redis.backoff import NoBackoff
from redis.cluster import ClusterNode, RedisCluster
from redis.exceptions import RedisClusterException, RedisError
from redis.retry import Retry
from redis.sentinel import Sentinel

from docsite.core.redis_servers.address import Servers, parse

ERRORS = (RedisError, RedisClusterException)  # that mean that Redis cannot be used now


def connect(url: str, **options: Any) -> Any:  # the types of the clients have no common parent
    """A client for threads. Raises one of `ERRORS` when no node of a cluster answers."""
    servers = parse(url)
    if servers is None:
        return Redis.from_url(url, **options)
    options = {**servers.options, **options}
    if not servers.sentinel_name:
        nodes = [ClusterNode(*node) for node in servers.nodes]  # type: ignore[no-untyped-call]
        return RedisCluster(startup_nodes=nodes, **options)
    own = _sentinel_options(servers, options) | {"retry": Retry(NoBackoff(), 0)}  # the next Sentinel is asked instead
    sentinels = Sentinel(servers.nodes, sentinel_kwargs=own)  # type: ignore[no-untyped-call]
    return sentinels.master_for(servers.sentinel_name, **options)  # type: ignore[no-untyped-call]


def connect_loop(url: str, **options: Any) -> Any:
    """A client for one event loop. It connects when it is used."""
    servers = parse(url)
    if servers is None:
        return AsyncRedis.from_url(url, **options)
    options = {**servers.options, **options}
    if not servers.sentinel_name:
        return AsyncRedisCluster(startup_nodes=[AsyncClusterNode(*node) for node in servers.nodes], **options)
    own = _sentinel_options(servers, options) | {"retry": AsyncRetry(NoBackoff(), 0)}
    sentinels = AsyncSentinel(servers.nodes, sentinel_kwargs=own)  # type: ignore[no-untyped-call]
    return sentinels.master_for(servers.sentinel_name, **options)


def _sentinel_options(servers: Servers, options: dict[str, Any]) -> dict[str, Any]:
    return servers.sentinel_options | {name: options[name] for name in options if name.startswith("socket_")}

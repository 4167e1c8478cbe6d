"""Django's cache in Redis, for Sentinel and clusters too."""

from typing import Any

from django.core.cache.backends import redis

from docsite.core.redis_servers import clients

_clients: dict[str, Any] = {}  # by address; Django makes a cache for each request, which would each connect anew


class _Client(redis.RedisCacheClient):
    """Django's client, over the one connection pool of this process."""

    def __init__(self, servers: list[str], **options: Any) -> None:
        super().__init__(servers)
        self._address, self._options = servers[0], options

    def get_client(self, key: Any = None, *, write: bool = False) -> Any:
        """The client, which all threads share."""
        if self._address not in _clients:
            _clients[self._address] = clients.connect(self._address, **self._options)
        return _clients[self._address]


class RedisCache(redis.RedisCache):
    """`LOCATION` is a `REDIS_URL`; `OPTIONS` are arguments of a client."""

    def __init__(self, server: str, params: dict[str, Any]) -> None:
        super().__init__(server, params)
        self._servers = [server]  # Django splits an address at its commas
        self._class = _Client

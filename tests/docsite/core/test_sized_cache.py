"""A cache keeps as many values as fit into a number of bytes."""

from docsite.core.sized_cache import SizedCache


def test_ten_thousand_small_values_stay_beside_a_large_one():
    cache = SizedCache()
    cache.put("large", "", 1_000_000, 11_000_000)
    for key in range(10_000):
        cache.put(key, key, 1_000, 11_000_000)
    assert cache.get("large") == ""
    assert all(cache.get(key) == key for key in range(10_000))
    assert cache.nbytes == 11_000_000


def test_what_was_not_used_for_longest_leaves_first():
    cache = SizedCache()
    for key in "abc":
        cache.put(key, key, 1, 3)
    assert cache.get("a") == "a"
    cache.put("d", "d", 2, 3)
    assert ([*cache._values], cache.nbytes) == (["a", "d"], 3)
    cache.put("a", "another", 2, 3)
    assert ([*cache._values], cache.nbytes, cache.get("a")) == (["a"], 2, "another")
    cache.put("huge", "huge", 100, 3)
    assert ([*cache._values], cache.nbytes) == (["huge"], 100), "one stays, however large"
    cache.clear()
    assert ([*cache._values], cache.nbytes, cache.get("huge")) == ([], 0, None)

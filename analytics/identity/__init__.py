"""Who is one visitor: a keyed hash, and the keys that change with each period."""

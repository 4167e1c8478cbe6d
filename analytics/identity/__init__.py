"""Identify visitors by a keyed hash (`visitor_hash`). The keys may change with each period (`key_rotation`)."""

"""Who one visitor is: a keyed hash (`visitor_hash`), and the keys, which change with each period (`key_rotation`)."""

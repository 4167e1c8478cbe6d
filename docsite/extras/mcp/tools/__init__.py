"""The tools that an agent may call, in the order of the list. Others import `registry`."""

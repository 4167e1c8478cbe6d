"""What happens to data: an audit of who changed what, and the erasure of readers' data with a receipt.

Others import `erasure` (erase the data of a reader, a conversation, a visitor or a project).
"""

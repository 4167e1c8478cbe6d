"""Compare the addresses and anchors that we index with those of really built sites: `make anchors SITES=folder`.

The folder holds the checkouts, the tools and the built sites. It lies outside of the repository.
"""

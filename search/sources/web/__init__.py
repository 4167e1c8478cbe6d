"""Sources that are read over HTTP: sites by their sitemaps or links, and llms.txt. The servers are not trusted."""

"""What is read over HTTP: sites by their sitemaps or links, and llms.txt. Whoever answers there is not trusted."""

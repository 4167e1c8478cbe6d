"""Read sites over HTTP: by their sitemap, by links, or by llms.txt. The servers are not trusted."""

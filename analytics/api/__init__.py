"""The analytics endpoints: export visitors, views, searches and questions; collect views."""

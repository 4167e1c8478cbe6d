"""The analytics endpoints: visitors and views out, views in, and what readers searched for and asked."""

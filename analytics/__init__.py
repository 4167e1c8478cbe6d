"""Page views in, visitor counts out."""

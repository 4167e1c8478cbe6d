"""Unicode normalization and URLs in linear time. No other module normalizes Unicode."""

"""Views into cells: counting visitors by addition, and what is kept for it."""

#!/usr/bin/env python
"""Django's command line for this service. `python manage.py help` lists the commands."""

from docsite.command import main

if __name__ == "__main__":
    main()

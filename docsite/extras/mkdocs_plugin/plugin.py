"""The plug-in, by the name `docs-service` in `mkdocs.yml`."""

import os
from typing import Any

from mkdocs.config import base
from mkdocs.config import config_options as options
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.plugins import BasePlugin
from mkdocs.structure.pages import Page

from docsite.extras.mkdocs_plugin.head import TRIGGERS, build_tag, describe_page


class Settings(base.Config):
    """What stands below the name of the plug-in. `attributes` are further data attributes of the tag."""

    service = options.URL()
    domain = options.Type(str)
    key = options.Type(str)
    assistant = options.Type(bool, default=True)
    attributes = options.Type(dict, default={})


class DocsService(BasePlugin[Settings]):
    """Adds lines to the head of each page that MkDocs has rendered."""

    def on_post_page(self, output: str, *, page: Page, config: MkDocsConfig) -> str:
        """Add the tag, and what the page's front matter says."""
        return self._add(output, config, page.meta)

    def on_post_template(self, output_content: str, *, template_name: str, config: MkDocsConfig) -> str:
        """Add the tag to pages without a source, such as that for addresses that do not exist."""
        return self._add(output_content, config, {}) if template_name.endswith(".html") else output_content

    def _add(self, html: str, config: MkDocsConfig, meta: dict[str, Any]) -> str:
        head, end, rest = html.partition("</head>")
        version = str(self.config.attributes.get("version") or os.environ.get("MIKE_DOCS_VERSION") or "")
        attributes = {
            "domain": self.config.domain,
            "key": self.config.key,
            "trigger": TRIGGERS.get(config.theme.name or ""),
            "assistant": self.config.assistant,
            "version": version,
            **self.config.attributes,
        }
        lines = [*describe_page(meta, version, head), build_tag(self.config.service, attributes)]
        return "".join([head, *(f"{line}\n" for line in lines), end, rest]) if end else html

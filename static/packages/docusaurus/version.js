/**
 * Tells the search and the assistant the version of the page that is shown. Docusaurus writes it into the head, and changes
 * pages without loading them.
 */

/** Pages of a site without versions, and those that are not released yet. */
const UNRELEASED = "current";

let told;

function tellVersion() {
  const { content } = document.querySelector('meta[name="docusaurus_version"]') ?? {};
  const version = content && content !== UNRELEASED ? content : undefined;
  if (version === told) return;
  told = version;
  const tags = document.querySelectorAll("script[data-domain][data-key]");
  for (const tag of tags) {
    if (version) tag.dataset.version = version;
    else delete tag.dataset.version;
  }
  // An update replaces the whole filter.
  const { language, tag } = tags[0]?.dataset ?? {};
  window.DocsAssistant?.update({ filter: { version, language, tag } });
}

if (typeof document !== "undefined") {
  new MutationObserver(tellVersion).observe(document.head, { childList: true, subtree: true, attributes: true });
  tellVersion();
}

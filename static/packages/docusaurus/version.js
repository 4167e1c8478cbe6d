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
  for (const tag of document.querySelectorAll("script[data-domain][data-key]")) {
    if (version) tag.dataset.version = version;
    else delete tag.dataset.version;
  }
  window.DocsAssistant?.update({ filter: { version } });
}

if (typeof document !== "undefined") {
  new MutationObserver(tellVersion).observe(document.head, { childList: true, subtree: true, attributes: true });
  tellVersion();
}

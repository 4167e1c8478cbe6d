// The sentences of the scripts, in the page's language. docsite/site/interface_texts.py has them for each language.

/** @type {Record<string, string> & { widget?: DocsAssistant.Options }} */
export const labels = JSON.parse(document.getElementById("words")?.textContent ?? "{}");

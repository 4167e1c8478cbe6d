// Where this site begins: the path below which a proxy shows it. Empty without one, and without a slash at the end.

const search = document.querySelector("link[rel=search]")?.getAttribute("href") ?? "";

export const base = search.replace(/\/opensearch\.xml$/, "");

/** A plugin of Docusaurus: the tag of the service on each page, and its search button in the navigation bar. */

const path = require("node:path");

/** The element of `theme/SearchBar` that gets the button. */
const CONTAINER = "[data-docs-service-search]";

/** @returns {import("@docusaurus/types").Plugin} */
function docsService(
  /** @type {unknown} */ _context,
  /** @type {import("./index.d.ts").Options} */ { service, domain, key, assistant = true, attributes = {} },
) {
  const data = { domain, key, container: CONTAINER, assistant: assistant ? "" : null, ...attributes };
  const given = Object.entries(data).filter(([, value]) => value !== null && value !== undefined);
  const values = given.map(([name, value]) => [
    `data-${name}`,
    typeof value === "object" ? JSON.stringify(value) : String(value),
  ]);
  return {
    name: "docs-service",
    injectHtmlTags: () => ({
      headTags: [
        {
          tagName: "script",
          attributes: {
            async: true,
            src: `${service.replace(/\/+$/, "")}/search.js`,
            ...Object.fromEntries(values),
          },
        },
      ],
    }),
    getThemePath: () => path.resolve(__dirname, "theme"),
    // A tag that names a version keeps it.
    getClientModules: () => (attributes.version ? [] : [path.resolve(__dirname, "version.js")]),
  };
}

/** Ends the build with a sentence that names the option. */
docsService.validateOptions = (/** @type {{ options: any }} */ { options: { id, ...options } }) => {
  for (const name of ["service", "domain", "key"]) {
    if (typeof options[name] !== "string" || !options[name])
      throw new Error(`@docs-service/docusaurus needs the option "${name}".`);
  }
  const known = ["service", "domain", "key", "assistant", "attributes"];
  const unknown = Object.keys(options).find((name) => !known.includes(name));
  if (unknown) throw new Error(`@docs-service/docusaurus has no option "${unknown}". It has ${known.join(", ")}.`);
  return options;
};

module.exports = docsService;

/** How links open, and how their addresses are displayed. */

/**
 * Attributes of a link. Pages of the host's own site open in place, all others in a new tab.
 * @param {string} href
 */
export const linkAttributes = (href) => ({
  href,
  rel: "noopener noreferrer nofollow",
  target: new URL(href).origin === location.origin || href.startsWith("mailto:") ? undefined : "_blank",
});

/**
 * An address as readers see it: decoded, without its text fragment, and without the host on pages of the host's site.
 * @param {string} href
 * @returns {string}
 */
export function displayAddress(href) {
  const { origin, host, pathname, hash } = new URL(href);
  const path = (origin === location.origin ? "" : host) + pathname + hash.replace(/:~:.*/, "").replace(/^#$/, "");
  try {
    return decodeURI(path);
  } catch {
    return path;
  }
}

/** @param {string} href */
export const withoutHash = (href) => href.split("#")[0];

// What the search dialog knows of the page around it. The dialog's modules import no other part of this site, since
// pages of other sites load them too (static/widget/src/search).

/**
 * @typedef {object} Site
 * @property {string} service origin of the service
 * @property {string} domain
 * @property {string} key an assistant key
 * @property {string} [readerToken] signed by the site, with the groups of its reader
 * @property {import("./client.js").Filter} preferred language and version of this page, if it has them
 * @property {(hit: import("./client.js").Hit, url: string) => string} linkTo the address of a hit, or of a section of it
 * @property {(query: string) => string} askAddress a page that asks the assistant; empty if no question can be asked
 * @property {(query: string) => boolean} ask asks in the widget; false if the link of the row has to do it
 * @property {(link: HTMLAnchorElement) => boolean} follow opens a page; false if the browser has to do it
 * @property {() => { href: string, title: string }[]} pages the pages of the navigation, in its order
 * @property {((query: string) => Promise<string>) | null} reportMissing reports that nothing was found; resolves with a
 *   sentence about a failure, or an empty text
 */

/** The sentences of the dialog, by name. @type {Record<string, string>} */
export const words = {};

/** Modules that are loaded on first use. Each is a file of the same build, beside the panel. */

/**
 * The address of a file. A build's files have their versions in their addresses: `/widget/<version>/<name>`.
 * @param {string} version
 * @param {string} name
 */
export const moduleAddress = (version, name) => new URL(`../${version}/${name}`, import.meta.url).href;

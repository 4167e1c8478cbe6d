/** Modules that are loaded on first use. Each is a file of the same build, beside the panel. */

/** Failed attempts, by name. Browsers remember a failure by its address, so a further attempt has another one. @type {Record<string, number>} */
const failures = {};

/**
 * Loads a module, once. A build's files have their versions in their addresses: `/widget/<version>/<name>`.
 * @param {string} version
 * @param {string} name
 * @returns {Promise<any>} rejected if it cannot be loaded now
 */
export async function loadModule(version, name) {
  const url = new URL(`../${version}/${name}`, import.meta.url);
  if (failures[name]) url.search = String(failures[name]);
  try {
    return await import(url.href);
  } catch (error) {
    failures[name] = (failures[name] ?? 0) + 1;
    throw error;
  }
}

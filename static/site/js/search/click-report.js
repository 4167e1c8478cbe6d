/**
 * Reports that a search result was opened. `keepalive` lets the request outlive this page.
 * @param {string | undefined} domain
 * @param {string} query
 * @param {string} path of the result
 * @param {number} position of the result, from 1
 */
export function reportClick(domain, query, path, position) {
  const body = JSON.stringify({ query, path, position });
  fetch(`/discovery/v1/search/${domain}/click`, { method: "POST", body, keepalive: true }).catch(() => {});
}

/** Report the result of a search that was opened; `keepalive` lets it outlive this page. */
export function report(domain, query, path, position) {
  const body = JSON.stringify({ query, path, position });
  fetch(`/discovery/v1/search/${domain}/click`, { method: "POST", body, keepalive: true }).catch(() => {});
}

// The keys j and k lead to the older and the newer conversation of the list.
const directions = { j: "next", k: "prev" };

document.addEventListener("keydown", (event) => {
  const direction = directions[/** @type {"j" | "k"} */ (event.key)];
  if (!direction || event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
  const target = /** @type {HTMLElement} */ (event.target);
  if (target.closest("input, textarea, select, [contenteditable]")) return;
  const link = /** @type {HTMLAnchorElement | null} */ (document.querySelector(`a[rel="${direction}"]`));
  link?.click();
});

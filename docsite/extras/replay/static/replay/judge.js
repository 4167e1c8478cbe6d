// The keys r and w judge the answer that is shown: right or wrong. A key that is held down judges one.
const verdicts = { r: "right", w: "wrong" };

document.addEventListener("keydown", (event) => {
  const verdict = verdicts[/** @type {"r" | "w"} */ (event.key)];
  if (!verdict || event.repeat || event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
  const target = /** @type {HTMLElement} */ (event.target);
  if (target.closest("input, textarea, select, [contenteditable]")) return;
  const button = /** @type {HTMLButtonElement | null} */ (document.querySelector(`button[value="${verdict}"]`));
  button?.click();
});

// Each sample gets a button that copies it. Without a clipboard the text can still be selected.
for (const sample of document.querySelectorAll("pre.sample")) {
  if (!navigator.clipboard) break; // an insecure origin
  const button = document.createElement("button");
  button.type = "button";
  button.className = "copy";
  button.textContent = "Copy";
  button.setAttribute("aria-label", `Copy: ${sample.getAttribute("aria-label")}`);
  const status = document.createElement("span");
  status.className = "visually-hidden";
  status.setAttribute("role", "status");
  button.addEventListener("click", async () => {
    let result = "Copied";
    try {
      await navigator.clipboard.writeText(sample.textContent);
    } catch {
      result = "Not allowed";
    }
    button.textContent = status.textContent = result;
    setTimeout(() => {
      button.textContent = "Copy";
      status.textContent = "";
    }, 1500);
  });
  sample.before(button, status);
}

// Empty fields stay out of the address.
document.addEventListener("formdata", ({ target, formData }) => {
  if (!(target instanceof HTMLFormElement) || target.method !== "get") return;
  for (const [name, value] of [...formData]) if (!value) formData.delete(name);
});

// On a phone a row of a table is a block, each cell with its heading. Without scripts the table scrolls.
/** @type {NodeListOf<HTMLTableElement>} */
const tables = document.querySelectorAll(".scrolls > table");
for (const table of tables) {
  const headings = [...(table.tHead?.rows[0]?.cells ?? [])].map((cell) =>
    cell.querySelector(".visually-hidden") ? "" : cell.innerText.replace(/[▲▼]/, "").trim(),
  );
  for (const { cells } of table.tBodies[0]?.rows ?? []) {
    if (cells.length !== headings.length) continue;
    for (const cell of cells) {
      const heading = headings[cell.cellIndex];
      if (heading && cell.localName === "td") cell.dataset.label = heading;
    }
  }
  table.classList.add("stacks");
}

// A table that is wider than its box fades at the edge where more of it follows.
const fade = (/** @type {Element} */ box) => {
  box.classList.toggle("more", box.scrollWidth - box.clientWidth - Math.abs(box.scrollLeft) > 1);
};
const observer = new ResizeObserver((entries) => {
  for (const { target } of entries) fade(target);
});
for (const box of document.querySelectorAll(".scrolls")) {
  observer.observe(box);
  box.addEventListener("scroll", () => fade(box), { passive: true });
}

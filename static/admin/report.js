// Adds a button that copies to each sample. Without it the text can be selected.
for (const sample of document.querySelectorAll("pre.sample")) {
  if (!navigator.clipboard) break; // an insecure origin
  const button = document.createElement("button");
  button.type = "button";
  button.className = "copy";
  button.textContent = "Copy";
  button.setAttribute("aria-label", `Copy: ${sample.getAttribute("aria-label")}`);
  const said = document.createElement("span");
  said.className = "visually-hidden";
  said.setAttribute("role", "status");
  button.addEventListener("click", async () => {
    let words = "Copied";
    try {
      await navigator.clipboard.writeText(sample.textContent);
    } catch {
      words = "Not allowed";
    }
    button.textContent = said.textContent = words;
    setTimeout(() => {
      button.textContent = "Copy";
      said.textContent = "";
    }, 1500);
  });
  sample.before(button, said);
}

// Empty fields stay out of the address.
document.addEventListener("formdata", ({ target, formData }) => {
  if (target.method !== "get") return;
  for (const [name, value] of [...formData]) if (!value) formData.delete(name);
});

// A table that goes on to the right fades there.
const fade = (box) => box.classList.toggle("more", box.scrollWidth - box.clientWidth - Math.abs(box.scrollLeft) > 1);
const watch = new ResizeObserver((seen) => seen.forEach(({ target }) => fade(target)));
for (const box of document.querySelectorAll(".scrolls")) {
  watch.observe(box);
  box.addEventListener("scroll", () => fade(box), { passive: true });
}

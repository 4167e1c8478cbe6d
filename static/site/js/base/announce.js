// One quiet place from which screen readers are told what a button did.

const region = document.createElement("p");
region.className = "visually-hidden";
region.setAttribute("role", "status");
document.body.append(region);

export function announce(text) {
  region.textContent = text;
}

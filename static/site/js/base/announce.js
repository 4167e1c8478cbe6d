// One hidden region through which scripts tell screen readers what a button did.

const region = document.createElement("p");
region.className = "visually-hidden";
region.setAttribute("role", "status");
document.body.append(region);

/** @param {string} text */
export function announce(text) {
  region.textContent = text;
}

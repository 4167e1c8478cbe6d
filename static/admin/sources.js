// While a source waits or is read, its page asks every two seconds how far it is.
const SECONDS = 2;
const section = document.querySelector(".source[data-state]");

let shown = "";

async function look() {
  let told;
  try {
    const response = await fetch(section.dataset.state);
    if (response.status === 403 || response.status === 404) return; // logged out, or deleted
    told = await response.json();
  } catch {
    setTimeout(look, SECONDS * 1000); // the service is away for a moment
    return;
  }
  const [status, body] = section.children;
  if (status.textContent !== told.state) status.textContent = told.state;
  if (told.html !== shown) {
    shown = told.html;
    const open = [...body.querySelectorAll("details[open] > summary")].map((one) => one.textContent);
    body.innerHTML = told.html;
    for (const one of body.querySelectorAll("summary")) one.parentElement.open = open.includes(one.textContent);
  }
  if (told.isActive) setTimeout(look, SECONDS * 1000);
}

if (section && "active" in section.dataset) setTimeout(look, SECONDS * 1000);

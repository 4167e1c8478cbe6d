// After an error one begins where it is to be corrected.
document.querySelector("[aria-invalid=true]")?.focus();

// Enter in a field of the question tries it, where the browser would take the form's first button: Save.
const button = document.querySelector("[name=try]");
document.querySelector("#try").addEventListener("keydown", (event) => {
  if (event.key !== "Enter" || !event.target.matches("input")) return;
  event.preventDefault();
  button.click();
});

// An answer takes a while, and each costs: one at a time, and the button says so.
button.form.addEventListener("submit", (event) => {
  if (button.getAttribute("aria-disabled")) event.preventDefault();
  else if (event.submitter === button) {
    button.setAttribute("aria-disabled", "true");
    setTimeout(() => (button.value = "Asking…"));
  }
});
addEventListener("pageshow", () => {
  button.removeAttribute("aria-disabled");
  button.value = "Try";
});

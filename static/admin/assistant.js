// After an error, start at the field to correct.
document.querySelector("[aria-invalid=true]")?.focus();

// Enter in a field of the question presses Try. Browsers would press the form's first button: Save.
const button = document.querySelector("[name=try]");
document.querySelector("#try").addEventListener("keydown", (event) => {
  if (event.key !== "Enter" || !event.target.matches("input")) return;
  event.preventDefault();
  button.click();
});

// An answer takes a while and costs tokens: allow one at a time, and say so on the button.
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

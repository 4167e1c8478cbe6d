// After an error the focus goes to the first field with a mistake.
const invalid = document.querySelector("[aria-invalid=true]");
if (invalid instanceof HTMLElement) invalid.focus();

// Enter in a field of the question asks it. The browser would press the form's first button: Save.
const button = document.querySelector("[name=try]");
const fields = document.querySelector("#try");
if (button instanceof HTMLInputElement && fields instanceof HTMLElement) {
  fields.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || !(event.target instanceof HTMLInputElement)) return;
    event.preventDefault();
    button.click();
  });

  // An answer takes a while and has a cost, so only one is asked for at a time. The button says so.
  button.form?.addEventListener("submit", (event) => {
    if (button.getAttribute("aria-disabled")) event.preventDefault();
    else if (event.submitter === button) {
      button.setAttribute("aria-disabled", "true");
      setTimeout(() => {
        button.value = "Asking…";
      });
    }
  });
  addEventListener("pageshow", () => {
    button.removeAttribute("aria-disabled");
    button.value = "Try";
  });
}

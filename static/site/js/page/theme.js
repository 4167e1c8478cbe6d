// Loaded before the style sheet, so that a remembered theme is there at the first paint.
try {
  const theme = localStorage.getItem("theme");
  if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
} catch {
  // Storage is switched off, so the theme follows the system.
}

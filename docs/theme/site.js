// The theme's buttons that open parts of the navigation have no name for screen readers.
document.addEventListener("DOMContentLoaded", () => {
  for (const button of document.querySelectorAll("summary:has(> .toctree-toggle)")) {
    button.setAttribute("aria-label", "Show the pages of this part");
  }
});

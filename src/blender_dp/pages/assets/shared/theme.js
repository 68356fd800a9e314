// Theme of the page: the system's, or the reader's choice.

const THEME_KEY = "blender-dp-theme";

/** Return the remembered theme; a page opened from a file may have no storage. */
function rememberedTheme() {
  try {
    const theme = localStorage.getItem(THEME_KEY);
    return theme === "light" || theme === "dark" ? theme : null;
  } catch {
    return null;
  }
}

function rememberTheme(theme) {
  try {
    localStorage.setItem(THEME_KEY, theme);
  } catch {
    // The choice then lasts as long as the page.
  }
}

function startTheme() {
  const system = matchMedia("(prefers-color-scheme: dark)");
  const button = byId("theme-toggle");
  const root = document.documentElement;
  const current = () => root.dataset.theme ?? (system.matches ? "dark" : "light");
  const show = () => {
    const other = current() === "dark" ? "Light" : "Dark";
    button.querySelector(".theme-toggle-text").textContent = other;
    button.setAttribute("aria-label", `Switch to the ${other.toLowerCase()} theme`);
  };
  const remembered = rememberedTheme();
  if (remembered) root.dataset.theme = remembered;
  button.addEventListener("click", () => {
    root.dataset.theme = current() === "dark" ? "light" : "dark";
    rememberTheme(current());
    show();
  });
  system.addEventListener("change", show);
  show();
}

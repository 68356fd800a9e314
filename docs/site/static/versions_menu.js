// The versions that are built beside this one; ../versions.js lists them, also without a server.
const place = document.querySelector(".version");
if (place && typeof VERSIONS !== "undefined" && VERSIONS.length > 1) {
  const here = place.textContent.trim().replace("version ", "");
  const menu = document.createElement("select");
  menu.setAttribute("aria-label", "Version of the documentation");
  for (const version of VERSIONS) menu.add(new Option(version, version, false, version === here));
  menu.addEventListener("change", () => {
    const script = place.querySelector("script").src;
    location.href = new URL(`${menu.value}/index.html`, script).href;
  });
  place.querySelector("span").replaceWith("version ", menu);
}

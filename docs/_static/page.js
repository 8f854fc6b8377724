// The button for dark and light, the mark in the list of contents at what is being read, and keys for what is wide.
document.addEventListener("DOMContentLoaded", () => {
  const root = document.documentElement;
  const button = document.querySelector(".theme-button");
  const name = () => (button.textContent = root.dataset.theme === "dark" ? "Light" : "Dark");
  button.hidden = false;
  button.addEventListener("click", () => {
    root.dataset.theme = root.dataset.theme === "dark" ? "light" : "dark";
    try {
      localStorage.setItem("theme", root.dataset.theme);
    } catch {
      // a browser that keeps nothing shows it on this page all the same
    }
    name();
  });
  new MutationObserver(name).observe(root, { attributeFilter: ["data-theme"] });
  name();

  const links = new Map([...document.querySelectorAll(".contents a")].map((each) => [each.hash.slice(1), each]));
  let now = null;
  const watch = new IntersectionObserver((seen) => {
    for (const { target, isIntersecting } of seen) {
      if (!isIntersecting) continue;
      now?.removeAttribute("aria-current");
      now = links.get(target.parentElement.id);
      now.setAttribute("aria-current", "true");
      now.scrollIntoView?.({ block: "nearest" });
    }
  }, { rootMargin: "0px 0px -75% 0px" });
  for (const id of links.keys()) {
    const heading = id && document.getElementById(id)?.querySelector("h1, h2, h3, h4, h5");
    if (heading) watch.observe(heading);
  }

  const sizes = new ResizeObserver((seen) => {
    const wide = seen.map(({ target }) => target.scrollWidth > target.clientWidth); // all are read before one is changed
    seen.forEach(({ target }, i) => {
      if (wide[i]) target.tabIndex = 0; // else no key moves it
      else target.removeAttribute("tabindex");
    });
  });
  for (const each of document.querySelectorAll(".cell_output, .taken, .taken [tabindex], article table, .x-scroll")) sizes.observe(each);
});

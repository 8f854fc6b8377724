// What is made only when it comes near, so that a page has less to do while it is opened: figures, whose markup waits in a
// `noscript`, and the buttons of films. A film that plays by itself does so once, when it comes into sight.
document.addEventListener("DOMContentLoaded", () => {
  function put(place) {
    const waiting = place.querySelector("noscript");
    if (!waiting) return;
    for (const name of ["role", "aria-label"]) place.removeAttribute(name); // the figure has both itself
    place.innerHTML = waiting.textContent;
  }

  async function unpacked(text) {
    const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
    return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"))).json();
  }

  async function begin(root) {
    const film = playFilm(root, await unpacked(root.dataset.film));
    if (!("plays" in root.dataset) || film.calm()) return;
    const watch = new IntersectionObserver(([seen]) => {
      if (!seen.isIntersecting) return;
      watch.disconnect();
      film.start();
    }, { threshold: 0.6 });
    watch.observe(root);
  }

  // The section is looked at: what is in one that is not laid out yet comes near unnoticed.
  const near = new IntersectionObserver((seen) => {
    for (const { target, isIntersecting } of seen) {
      if (!isIntersecting) continue;
      near.unobserve(target);
      for (const make of waiting.get(target)) make();
    }
  }, { rootMargin: "100%" });
  const waiting = new Map();
  function wait(root, make) {
    const place = root.closest("section") ?? root;
    waiting.set(place, [...(waiting.get(place) ?? []), make]);
    near.observe(place);
  }
  const figures = [...document.querySelectorAll(".later")];
  for (const place of figures) wait(place, () => put(place));
  for (const root of document.querySelectorAll("[data-film]")) wait(root, () => begin(root));
  window.addEventListener("beforeprint", () => figures.forEach(put)); // paper shows all of it
});

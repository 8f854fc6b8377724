// What is made only when it comes near, so that a page has less to do while it is opened: figures, whose markup waits in a
// `noscript`, and the buttons of films. A film that plays by itself does so once, when it comes into sight. Once a page is
// open, its other parts follow one by one, so that a picture of the whole page, and a search in it, finds all of them.
document.addEventListener("DOMContentLoaded", () => {
  const SPELL = 8; // milliseconds for what is out of sight, after which the reader comes first

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
      if (isIntersecting) makeAll(target);
    }
  }, { rootMargin: "100%" });
  function makeAll(place) {
    near.unobserve(place);
    for (const make of waiting.get(place) ?? []) make();
    waiting.delete(place);
  }
  const waiting = new Map();
  function wait(root, make) {
    const place = root.closest("section") ?? root;
    waiting.set(place, [...(waiting.get(place) ?? []), make]);
    near.observe(place);
  }
  const figures = [...document.querySelectorAll(".later")];
  for (const place of figures) wait(place, () => put(place));
  for (const root of document.querySelectorAll("[data-film]")) wait(root, () => begin(root));

  const idle = window.requestIdleCallback ?? ((work) => setTimeout(work, 50)); // Safari has none
  const rest = [...document.querySelectorAll("article section, div.cell")];
  function makeRest() {
    for (const start = performance.now(); rest.length && performance.now() - start < SPELL; ) {
      const place = rest.shift();
      place.style.contentVisibility = "visible";
      makeAll(place);
      place.getBoundingClientRect(); // lays it out now, so that the time counts
    }
    if (rest.length) idle(makeRest);
  }
  window.addEventListener("load", () => idle(makeRest));
  window.addEventListener("beforeprint", () => figures.forEach(put)); // paper shows all of it
});

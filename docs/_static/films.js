// Gives the films of a page their buttons, each when it comes near, so that a page has less to do while it is opened. One
// that plays by itself does so once, when it comes into sight.
document.addEventListener("DOMContentLoaded", () => {
  function begin(root) {
    const film = playFilm(root, JSON.parse(root.dataset.film));
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
      films.get(target).forEach(begin);
    }
  }, { rootMargin: "100%" });
  const films = new Map();
  for (const root of document.querySelectorAll("[data-film]")) {
    const place = root.closest("section") ?? root;
    films.set(place, [...(films.get(place) ?? []), root]);
    near.observe(place);
  }
});

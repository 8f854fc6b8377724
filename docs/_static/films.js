// Gives the films of a page their buttons; one that plays by itself does so once, when it comes into sight.
document.addEventListener("DOMContentLoaded", () => {
  for (const root of document.querySelectorAll("[data-film]")) {
    const film = playFilm(root, JSON.parse(root.dataset.film));
    if (!("plays" in root.dataset) || film.calm()) continue;
    const watch = new IntersectionObserver(([seen]) => {
      if (!seen.isIntersecting) return;
      watch.disconnect();
      film.start();
    }, { threshold: 0.6 });
    watch.observe(root);
  }
});

// Gives the films of a page their buttons, one after the other: the page answers in between. One that plays by itself does
// so once, when it comes into sight.
document.addEventListener("DOMContentLoaded", () => {
  const waiting = [...document.querySelectorAll("[data-film]")];

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

  function next() {
    if (!waiting.length) return;
    begin(waiting.shift());
    setTimeout(next);
  }
  setTimeout(next);
});

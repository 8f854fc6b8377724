// Asks for a reader's guess where a chapter has a prediction, and then opens what comes out. Nothing is sent or kept.
// A field is made when its place comes near, so that a page has less to do while it is read.
(function () {
  "use strict";

  function made(tag, text, attributes) {
    const element = document.createElement(tag);
    element.textContent = text;
    Object.entries(attributes || {}).forEach(([name, value]) => element.setAttribute(name, value));
    return element;
  }

  function below(place) {
    const after = (each) => place.compareDocumentPosition(each) & Node.DOCUMENT_POSITION_FOLLOWING;
    return Array.from(document.querySelectorAll("div.cell details")).find(after);
  }

  function ask(place, number) {
    const choices = place.dataset.choices ? place.dataset.choices.split("|") : [];
    const form = made(choices.length ? "div" : "form", ""), said = made("p", "", { role: "status" });
    const answer = (guess) => {
      const details = below(place);
      if (details) details.open = true;
      said.textContent = guess ? `You say: ${guess}. What comes out stands below.` : "What comes out stands below.";
    };
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      const field = form.querySelector("input");
      if (field) answer(field.value.trim());
    });
    if (choices.length) {
      form.append(made("span", "What do you say?", { id: `asks-${number}` }));
      form.setAttribute("role", "group");
      form.setAttribute("aria-labelledby", `asks-${number}`);
      choices.forEach((choice) => {
        const button = made("button", choice, { type: "button", "aria-pressed": "false" });
        button.addEventListener("click", () => {
          form.querySelectorAll("button").forEach((each) => each.setAttribute("aria-pressed", String(each === button)));
          answer(choice);
        });
        form.append(button);
      });
    } else {
      const sort = place.dataset.sort ? ` (${place.dataset.sort})` : "";
      form.append(made("label", `What do you say?${sort}`, { for: `asks-${number}` }));
      form.append(made("input", "", { id: `asks-${number}`, type: "text", autocomplete: "off" }));
      form.append(made("button", "Show", { type: "submit" }));
    }
    place.append(form, said);
  }

  document.addEventListener("DOMContentLoaded", () => {
    let count = 0;
    const near = new IntersectionObserver((seen) => {
      for (const { target, isIntersecting } of seen) {
        if (!isIntersecting) continue;
        near.unobserve(target);
        ask(target, (count += 1));
      }
    }, { rootMargin: "100%" });
    document.querySelectorAll("div.asks").forEach((place) => near.observe(place));
  });
})();

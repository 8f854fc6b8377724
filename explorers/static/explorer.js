// The view of every explorer: draws the controls that Python describes, shows the picture that Python made, and sends
// back what the reader chooses. It knows nothing of tensors.

const SILENT = 4000; // milliseconds after which the reader is told that no answer has come
const TYPING = 500; // a pause in typing that counts as an answer

const WAITING =
  "No answer from Python: the kernel is busy, or it was restarted. If none comes, run this cell again.";

function element(name, properties, ...children) {
  const made = Object.assign(document.createElement(name), properties);
  made.append(...children);
  return made;
}

let made = 0; // numbers the fields, so that each label finds its own

/**
 * One control: `el` is what stands in the page, `update` takes a new description.
 * `talk.send` sends a choice; `talk.busy` says whether one is still unanswered: until then, what the reader does goes
 * before what Python knew a moment ago.
 */
function control(first, talk) {
  const id = `explorer-field-${(made += 1)}`;
  const hint = element("span", { className: "x-hint", id: `${id}-hint` });
  const field = FIELDS[first.kind](first.name, talk);
  const label = element("label", { htmlFor: id });
  const el = element("div", { className: `x-control x-control-${first.kind}` });
  field.el.id = id;
  el.append(...(first.kind === "button" ? [field.el] : first.kind === "switch" ? [field.el, label] : [label, field.el]), hint);
  const update = (now) => {
    (first.kind === "button" ? field.el : label).textContent = now.label;
    field.el.disabled = now.disabled;
    hint.textContent = now.hint;
    hint.hidden = !now.hint;
    if (now.hint) field.el.setAttribute("aria-describedby", hint.id);
    else field.el.removeAttribute("aria-describedby");
    field.update(now);
  };
  update(first);
  return { el, update, kind: first.kind };
}

const inUse = (el, talk) => document.activeElement === el && talk.busy();

const FIELDS = {
  choice(name, talk) {
    const el = element("select", {});
    el.addEventListener("change", () => talk.send(name, el.value));
    const update = ({ options, value }) => {
      if (inUse(el, talk)) return;
      if (options.join("\n") !== [...el.options].map((option) => option.value).join("\n"))
        el.replaceChildren(...options.map((text) => element("option", { value: text, textContent: text })));
      el.value = value;
    };
    return { el, update };
  },

  text(name, talk) {
    const el = element("input", { type: "text", autocomplete: "off", spellcheck: false, maxLength: 200 });
    let sent = null; // what Python has, or will have
    let pause = 0;
    let button = ""; // the one that Enter presses
    const tell = () => {
      clearTimeout(pause);
      if (el.value !== sent) talk.send(name, (sent = el.value));
    };
    el.addEventListener("change", tell);
    el.addEventListener("input", () => {
      clearTimeout(pause);
      pause = setTimeout(tell, TYPING);
    });
    el.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" || event.isComposing || !el.value.trim()) return;
      tell();
      if (button) talk.send(button, null);
    });
    const update = ({ value, submits }) => {
      button = submits;
      if (inUse(el, talk) || (document.activeElement === el && value === sent)) return; // letters may be on their way
      el.value = sent = value;
    };
    return { el, update };
  },

  switch(name, talk) {
    const el = element("input", { type: "checkbox" });
    el.setAttribute("role", "switch");
    el.addEventListener("change", () => talk.send(name, el.checked));
    return { el, update: ({ value }) => inUse(el, talk) || (el.checked = value) };
  },

  button(name, talk) {
    const el = element("button", { type: "button" });
    el.addEventListener("click", () => talk.send(name, null));
    return { el, update: () => {} };
  },
};

/**
 * The row of controls, kept from one description to the next: a field that has the focus is never made anew.
 * `leave` is called where the control that had the focus is gone.
 */
function controlRow(talk, leave) {
  const el = element("div", { className: "x-controls" });
  const known = new Map();
  const update = (wanted) => {
    const held = document.activeElement;
    const hadIt = el.contains(held);
    for (const [name, { el: old, kind }] of known) {
      if (wanted.some((one) => one.name === name && one.kind === kind)) continue;
      old.remove();
      known.delete(name);
    }
    wanted.forEach((one, place) => {
      if (known.has(one.name)) known.get(one.name).update(one);
      else known.set(one.name, control(one, talk));
      const { el: mine } = known.get(one.name);
      if (el.children[place] !== mine) el.insertBefore(mine, el.children[place] ?? null);
    });
    if (!held || held === document.activeElement) return;
    if (el.contains(held)) held.focus(); // it was moved
    else if (hadIt) leave(); // it is gone
  };
  return { el, update };
}

/** What a swap of the picture must not lose: focus, scroll positions, unfolded details. */
function kept(picture) {
  const active = picture.contains(document.activeElement) ? document.activeElement.closest("[data-choose]") : null;
  const find = (name, value) =>
    [...picture.querySelectorAll("[data-choose]")].find(
      (one) => one.dataset.choose === name && (value === undefined || one.dataset.value === value),
    );
  const { choose, value } = active?.dataset ?? {};
  const places = [...picture.querySelectorAll("[data-keep]")].map((one) => ({
    key: one.dataset.keep,
    left: one.scrollLeft,
    top: one.scrollTop,
    open: one.open,
  }));
  return () => {
    for (const { key, left, top, open } of places) {
      const one = picture.querySelector(`[data-keep="${CSS.escape(key)}"]`);
      if (!one) continue;
      Object.assign(one, { scrollLeft: left, scrollTop: top });
      if (open !== undefined) one.open = open;
    }
    if (active) (find(choose, value) ?? find(choose) ?? picture).focus({ preventScroll: true });
  };
}

function render({ model, el }) {
  const root = element("div", { className: "explorer" });
  root.setAttribute("role", "group");
  root.setAttribute("aria-label", model.get("title"));
  const picture = element("div", { className: "x-picture", tabIndex: -1 });
  const said = element("p", { className: "x-said" });
  said.setAttribute("aria-live", "polite");
  const waiting = element("p", { className: "x-waiting", hidden: true });
  waiting.setAttribute("role", "status");

  let clock = 0;
  let open = 0; // messages without an answer
  const later = new Map(); // what a film asks for while an answer is waited for: of each choice, the last one
  const wait = () => {
    waiting.textContent = WAITING;
    waiting.hidden = false;
  };
  const tell = (choose, value) => {
    clearTimeout(clock);
    try {
      model.send({ choose, value });
    } catch {
      return wait(); // the kernel is gone
    }
    open += 1;
    clock = setTimeout(wait, SILENT);
  };
  const goOn = () => {
    for (const [choose, value] of later) {
      later.delete(choose);
      return tell(choose, value);
    }
  };
  const send = (choose, value) => {
    while (later.size) goOn(); // in the order in which the reader chose
    tell(choose, value);
  };
  const isBusy = () => open > 0 || later.size > 0;
  let told = {}; // what is to be read aloud: once for all that comes of one choice, and Python's own words first
  const speak = (who, words) => {
    if (!Object.keys(told).length)
      queueMicrotask(() => {
        said.textContent = told.python ?? told.film;
        told = {};
      });
    told[who] = words;
  };
  const ask = (choose, value) => {
    if (!isBusy()) return tell(choose, value);
    later.delete(choose);
    later.set(choose, value);
  };
  const row = controlRow({ send, busy: isBusy }, () => picture.focus({ preventScroll: true }));

  const showPicture = () => {
    const restore = kept(picture);
    picture.innerHTML = model.get("picture");
    restore();
  };
  const showControls = () => row.update(model.get("controls"));
  const stage = element("div", { className: "x-film", hidden: true });
  let film = null;
  const showFilm = () => {
    const now = model.get("film");
    stage.hidden = !now.runs;
    if (!now.runs) return;
    if (now.isFirst && stage.nextSibling !== picture) picture.before(stage);
    if (film) film.update(now);
    else film = playFilm(stage, now, { send: ask, busy: isBusy, speak: (words) => speak("film", words) });
  };
  const showSaid = () => speak("python", model.get("said"));
  const answered = () => {
    open = Math.max(0, open - 1); // another view of the same explorer may have asked
    if (open === 0) clearTimeout(clock);
    waiting.hidden = true;
    if (open === 0) goOn();
    showFilm();
    showControls(); // what was refused goes back to what Python has
  };

  root.addEventListener("click", (event) => {
    const chosen = event.target.closest("[data-choose]");
    if (chosen) send(chosen.dataset.choose, chosen.dataset.value);
  });
  // Else the notebook takes keys that are meant for these controls: Enter, arrows, letters.
  // Notebook 7 hears of a key before the page's elements do, and asks the one that has the focus.
  root.addEventListener("focusin", (event) => (event.target.dataset.lmSuppressShortcuts = ""));
  for (const kind of ["keydown", "keypress", "keyup"]) root.addEventListener(kind, (event) => event.stopPropagation());

  const watched = { picture: showPicture, film: showFilm, controls: showControls, said: showSaid, heard: answered };
  for (const [name, show] of Object.entries(watched)) model.on(`change:${name}`, show);
  root.append(element("p", { className: "x-title", textContent: model.get("title") }), row.el, waiting, picture, stage, said);
  showControls();
  showPicture();
  showFilm();
  el.append(root);

  return () => {
    clearTimeout(clock);
    for (const [name, show] of Object.entries(watched)) model.off(`change:${name}`, show);
  };
}

export default { render };

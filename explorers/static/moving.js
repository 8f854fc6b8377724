// Plays what Python has recorded: a picture whose parts take other values from step to step. It knows nothing of tensors,
// and needs no kernel: in a notebook it stands before explorer.js in one module, on a page it stands alone.
//
// A film has a `title`, a `pace` (frames in a second), `choices` (each with a name, a label, its options and the one taken), `parts` ("name.attribute", where the
// attribute `text` is what stands inside), and `runs`. The run for the options taken, joined by "|", has values that
// stay (`still`), one text for each step, with the numbers and values of the parts that are not as in the step before,
// parted by tabs (`frames`), the steps' own numbers (`steps`), and an `error` in words.

const playFilm = (() => {
  const NUMBER = /-?\d+(?:\.\d+)?/g;
  const SMOOTH = ["points", "transform"]; // attributes that may stand between two frames
  const ABSENT = "This one was not recorded: in the notebook it is computed when you choose it.";
  let count = 0; // numbers the fields, so that each label finds its own

  function made(name, properties, ...children) {
    const one = Object.assign(document.createElement(name), properties);
    one.append(...children);
    return one;
  }

  /** Numbers on their way from one text to another of the same form. */
  function between(from, to, share) {
    const aims = to.match(NUMBER) ?? [];
    if (!share || aims.length !== (from.match(NUMBER) ?? []).length) return from;
    let place = 0;
    return from.replace(NUMBER, (each) => (+each + (aims[place++] - each) * share).toFixed(1));
  }

  /** A label with what it stands for now, above its field. */
  function labeled(label, field, value) {
    field.id = `film-field-${(count += 1)}`;
    const told = made("span", { className: "x-film-value", textContent: value ?? "" });
    field.setAttribute("aria-label", label); // a name that stays, while the value is told as one
    const el = made("div", { className: "x-film-control" }, made("label", { htmlFor: field.id }, `${label} `, told), field);
    return { el, field, told };
  }

  /** Puts what a frame changes into the values of all parts. */
  function change(values, frame) {
    const told = frame.split("\t");
    for (let i = 1; i < told.length; i += 2) values[told[i - 1]] = told[i];
    return values;
  }

  /** Where the middle of a part stands on the screen. */
  function middle(part) {
    const { left, top, width, height } = part.getBoundingClientRect();
    return [left + width / 2, top + height / 2];
  }

  /** The part to which an arrow key leads from another one: the nearest on that side, or as the key says the first or last. */
  function toward(key, from, parts) {
    if (key === "Home" || key === "End") return parts.at(key === "Home" ? 0 : -1);
    const [axis, sign] = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [1, -1], ArrowDown: [1, 1] }[key] ?? [];
    if (axis === undefined) return null;
    const here = middle(from);
    const far = (part) => {
      const way = middle(part).map((place, i) => place - here[i]);
      return way[axis] * sign < 1 ? Infinity : way[axis] * sign + 4 * Math.abs(way[1 - axis]); // rather straight on
    };
    const nearest = parts.reduce((best, part) => (far(part) < far(best) ? part : best));
    return far(nearest) < Infinity ? nearest : null;
  }

  function slider(most, at) {
    return made("input", { type: "range", min: 0, max: most, step: 1, value: at });
  }

  /** One choice: numbers in their order by a slider, all else by a list. */
  function chooser(choice, changed) {
    const { label, options, value } = choice;
    const isSlider = choice.kind === "slider";
    const field = isSlider ? slider(options.length - 1, options.indexOf(value)) : made("select", {});
    if (!isSlider) field.append(...options.map((text) => made("option", { value: text, textContent: text })));
    const control = labeled(label, field, isSlider ? value : "");
    const set = (now) => {
      field.value = isSlider ? options.indexOf(now) : now;
      if (!isSlider) return;
      control.told.textContent = now;
      field.setAttribute("aria-valuetext", now);
    };
    set(value);
    field.addEventListener("input", () => {
      const now = isSlider ? options[field.value] : field.value;
      set(now);
      changed(choice.name, now);
    });
    return { el: control.el, set, name: choice.name };
  }

  return function playFilm(root, first, talk = null) {
    let film = first;
    let taken = Object.fromEntries(film.choices.map(({ name, value }) => [name, value]));
    let place = film.seek; // a whole number, except on the way to the next one
    let put = null; // the run whose parts that stay are in the picture
    let targets = {}; // the elements of the picture that parts belong to, by the parts' names
    let known = { run: null }; // the values of all parts at a frame (`at`) of a run
    let followed = -1; // the frame that a picture larger than its place has moved to
    let door = null; // the part of the picture that Tab leads to
    let named = null; // the run whose words the parts of the picture have as their names
    let since = 0; // when the frame before the present picture was drawn, while it plays

    const stage = root.querySelector(".x-film-picture") ?? made("div", { className: "x-film-picture" });
    const said = made("p", { className: "x-film-said" });
    if (!talk) said.setAttribute("role", "status"); // in an explorer, its own words are read aloud
    const wrong = made("p", { className: "x-error", hidden: true });
    const play = made("button", { type: "button", className: "x-film-play" });
    const back = made("button", { type: "button", textContent: "Step back" });
    const next = made("button", { type: "button", textContent: "Step" });
    const near = made("button", { type: "button", textContent: "Close up", hidden: true });
    const bar = labeled("Step", slider(0, 0));
    const choices = film.choices.map((each) => chooser(each, choose));
    const buttons = made("div", { className: "x-film-buttons" }, play, back, next, near);
    const row = made("div", { className: "x-film-row" }, buttons, bar.el, ...choices.map((each) => each.el));

    const key = () => film.choices.map(({ name }) => taken[name]).join("|");
    const run = () => film.runs[key()];
    const last = () => (run()?.frames.length ?? 1) - 1;
    const still = matchMedia("(prefers-reduced-motion: reduce)");
    const calm = () => still.matches;

    function set(part, value) {
      const [name, attribute] = part.split(".");
      const target = name === "said" ? said : targets[name];
      if (!target) return;
      if (attribute !== "text") {
        if (target.getAttribute(attribute) !== value) target.setAttribute(attribute, value);
      } else if (target.textContent !== value) target.textContent = value;
    }

    /** The values of all parts at a frame. */
    function valuesAt(run, at) {
      if (known.run !== run || known.at > at) known = { run, at: -1, values: [] };
      while (known.at < at) change(known.values, run.frames[(known.at += 1)]);
      return known.values;
    }

    /** A picture that is new to this script: its parts, and what tells of a frame becomes a list to walk through. */
    function take() {
      targets = Object.fromEntries([...stage.querySelectorAll("[data-part]")].map((part) => [part.dataset.part, part]));
      for (const part of stage.querySelectorAll("[data-frame]")) {
        part.setAttribute("role", "option");
        part.tabIndex = -1;
        part.closest("svg").setAttribute("role", "listbox");
      }
      door = named = null;
      near.hidden = !targets.here;
    }

    /** Where a picture is larger than its place, what is told of now stands in the middle. */
    function follow() {
      if (!stage.hasAttribute("tabindex") || !targets.here) return;
      const [here, seen] = [middle(targets.here), middle(stage)];
      stage.scrollBy({ left: here[0] - seen[0], top: here[1] - seen[1] });
    }

    /** A picture that is larger than its place is moved by keys: else who has no mouse sees a part of it. */
    function fit() {
      const isOver = stage.scrollWidth > stage.clientWidth + 1 || stage.scrollHeight > stage.clientHeight + 1;
      if (!isOver) return void stage.removeAttribute("tabindex");
      Object.assign(stage, { tabIndex: 0, role: "group", ariaLabel: film.title });
      follow();
    }

    const isSeen = (part) => !part.closest('[display="none"]');
    const walkable = () => [...stage.querySelectorAll("[data-frame]")].filter(isSeen);

    /** Each part that tells of a frame is named by what is told there. */
    function name(run) {
      const place = film.parts.indexOf("said.text");
      const told = run.frames.map((_, at) => valuesAt(run, at)[place]);
      for (const part of walkable()) part.setAttribute("aria-label", told[part.dataset.frame]);
      named = run;
    }

    /** Tab leads to the part that tells of the present frame. */
    function openDoor(at) {
      const isHere = (part) => part?.dataset.frame === String(at) && isSeen(part);
      const held = stage.contains(document.activeElement) ? document.activeElement : door;
      if (held === door && isHere(door)) return;
      door?.setAttribute("tabindex", -1);
      door?.setAttribute("aria-selected", false);
      door = isHere(held) ? held : walkable().find(isHere);
      door?.setAttribute("tabindex", 0);
      door?.setAttribute("aria-selected", true);
    }

    function draw() {
      const now = run();
      const [at, most] = [Math.min(Math.floor(place), last()), last()];
      play.textContent = since ? "Pause" : "Play";
      const isHeard = stage.contains(document.activeElement); // a part that has the focus has these words as its name
      if (!talk) said.setAttribute("aria-live", since || isHeard ? "off" : "polite");
      const before = said.textContent;
      [bar.field.max, bar.field.value] = [most, at];
      play.disabled = back.disabled = next.disabled = bar.field.disabled = !now;
      stage.classList.toggle("x-film-absent", !now);
      wrong.hidden = !(now?.error && at === most);
      if (!now) return void (said.textContent = talk ? "" : ABSENT);
      bar.told.textContent = `${now.steps[at]} of ${now.steps[most]}`;
      bar.field.setAttribute("aria-valuetext", bar.told.textContent);
      const from = valuesAt(now, at);
      const to = at < most && place > at ? change([...from], now.frames[at + 1]) : from;
      if (put !== now) for (const [part, value] of Object.entries(now.still)) set(part, value);
      put = now;
      film.parts.forEach((part, i) => {
        if (from[i] === undefined) return;
        const isSmooth = SMOOTH.includes(part.split(".")[1]) && !calm();
        set(part, isSmooth ? between(from[i], to[i], place - at) : from[i]);
      });
      if (wrong.textContent !== now.error) wrong.textContent = now.error;
      if (!since || calm() || at !== followed) follow();
      followed = at;
      if (named !== now) name(now);
      openDoor(at);
      if (talk && !since && !isHeard && before && before !== said.textContent) talk.speak(said.textContent);
    }

    function go(to) {
      place = Math.max(0, run() ? Math.min(to, last()) : to); // a run that is on its way is shown at the same step
      draw();
    }

    function stop() {
      since = 0;
      go(Math.round(place));
    }

    function tick(time) {
      if (!since || !run() || !root.isConnected) return void (since = 0);
      place = Math.min(place + (Math.max(0, time - since) / 1000) * film.pace, last());
      since = Math.max(time, since);
      if (place >= last()) return stop();
      draw();
      requestAnimationFrame(tick);
    }

    function start() {
      if (place >= last()) place = 0;
      since = performance.now();
      draw();
      requestAnimationFrame(tick);
    }

    function choose(name, value) {
      if (film.tellsPlace && run()) talk?.send("at", String(Math.min(Math.floor(place), last())));
      taken = { ...taken, [name]: value };
      talk?.send(name, value);
      go(place);
    }

    /** A new film of the same kind; what the reader has chosen since goes before what Python knew a moment ago. */
    function update(now) {
      const isElsewhere = now.seek !== film.seek || now.about !== film.about;
      const isOther = now.picture !== film.picture;
      [film, put] = [now, null];
      if (isOther) {
        stage.innerHTML = now.picture;
        take();
      }
      if (!talk.busy()) for (const { name, value } of film.choices) taken[name] = value;
      for (const each of choices) each.set(taken[each.name]);
      if (isElsewhere) since = 0;
      go(isElsewhere ? now.seek : place);
    }

    play.addEventListener("click", () => (since ? stop() : start()));
    for (const [button, by] of [[back, -1], [next, 1]])
      button.addEventListener("click", () => {
        since = 0;
        go(Math.floor(place) + by);
      });
    near.addEventListener("click", () => {
      const isNear = stage.classList.toggle("x-near");
      near.textContent = isNear ? "Whole" : "Close up";
      fit();
    });
    for (const kind of ["pointerover", "focusin"])
      stage.addEventListener(kind, (event) => {
        const part = event.target.closest("[data-frame]"); // a part of the picture that one frame tells of
        if (!part) return;
        since = 0;
        go(+part.dataset.frame);
      });
    stage.addEventListener("keydown", (event) => {
      const part = event.target.closest("[data-frame]");
      const next = part && toward(event.key, part, walkable());
      if (!next) return;
      event.preventDefault();
      next.focus();
    });
    bar.field.addEventListener("input", () => {
      since = 0;
      go(+bar.field.value);
    });
    buttons.addEventListener("keydown", (event) => {
      const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
      if (!by) return;
      event.preventDefault();
      since = 0;
      go(Math.floor(place) + by);
    });

    const title = made("p", { className: "x-film-title", textContent: film.title });
    root.replaceChildren(title, row, stage, said, wrong);
    if (film.picture !== undefined) stage.innerHTML = film.picture;
    take();
    go(place);
    new ResizeObserver(fit).observe(stage);
    return { update, start, calm };
  };
})();

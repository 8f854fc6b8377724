// The lines of a program to put in order, as one more kind of control: it stands behind explorer.js in the same module,
// and uses what is there. Lines move here at once; Python hears of each move, and judges the program when it is asked.

const GAP = "___";
const INDENT = "    ";
const FAR_ENOUGH = 5; // pixels after which a press is a drag
const LEVEL = 28; // pixels of a level, as the style has it

const numberOf = (count, word) => `${count} ${word}${count === 1 ? "" : "s"}`;

/** A line with an input in place of each gap; `typed` hears of what is written into them. */
function lineText(text, typed) {
  const el = element("span", { className: "x-line-text" });
  const inputs = [];
  text.split(GAP).forEach((part, place) => {
    if (place) {
      const input = element("input", { type: "text", autocomplete: "off", spellcheck: false, className: "x-gap" });
      input.setAttribute("autocapitalize", "off");
      input.setAttribute("aria-label", `gap${place > 1 ? ` ${place}` : ""} in: ${text.replaceAll(GAP, "gap")}`);
      input.addEventListener("input", () => {
        fit(input);
        typed();
      });
      inputs.push(input);
      el.append(input);
    }
    if (part) el.append(element("code", { textContent: part }));
  });
  return { el, inputs };
}

const fit = (input) => (input.style.width = `${Math.max(5, input.value.length + 2)}ch`);

/** Copies a text; says whether it could. */
async function copied(area) {
  try {
    await navigator.clipboard.writeText(area.value);
    return true;
  } catch {
    area.focus();
    area.select();
    return document.execCommand("copy"); // a page without a secure address has no clipboard of the newer kind
  }
}

/** The lines of an editor of the notebook; null where it does not show all of them. */
function linesOf(editor) {
  if (editor.querySelector(".cm-gap")) return null;
  return [...editor.querySelectorAll(".cm-line")].map((line) => line.textContent);
}

/** The cell that begins with this `def` and still waits for its answer, and what it would become with this body. */
function answerCell(head, body) {
  for (const editor of document.querySelectorAll(".jp-CodeCell .cm-content")) {
    const lines = linesOf(editor);
    if (!lines?.some((line) => line.startsWith(head.split("(")[0] + "("))) continue;
    const from = lines.findIndex((line) => line.trim() === "# YOUR CODE HERE");
    const to = lines.findIndex((line) => line.trim() === "raise NotImplementedError()");
    if (to < 0) continue; // work of the reader's own stands there
    const begin = from >= 0 && from < to ? from : to;
    return { editor, text: [...lines.slice(0, begin), ...body, ...lines.slice(to + 1)].join("\n") };
  }
  return null;
}

/** Pastes a text in place of all that stands in an editor, as the reader would; says whether it stands there then. */
function pasted({ editor, text }) {
  const data = new DataTransfer();
  data.setData("text/plain", text);
  editor.focus();
  document.getSelection().selectAllChildren(editor);
  for (const held of [{ ctrlKey: true }, { metaKey: true }])
    editor.dispatchEvent(new KeyboardEvent("keydown", { key: "a", code: "KeyA", keyCode: 65, bubbles: true, ...held }));
  editor.dispatchEvent(new ClipboardEvent("paste", { clipboardData: data, bubbles: true, cancelable: true }));
  return linesOf(editor)?.join("\n") === text;
}

FIELDS.lines = (name, talk) => {
  const pool = element("ol", { className: "x-pool" });
  const program = element("ol", { className: "x-program" });
  const head = element("code", { className: "x-head" });
  const area = element("textarea", { className: "x-text", readOnly: true, spellcheck: false });
  const told = element("p", { className: "x-told" });
  told.setAttribute("role", "status");
  pool.setAttribute("aria-label", "Lines to choose from");
  program.setAttribute("aria-label", "Your program");
  area.setAttribute("aria-label", "The text of your program");

  let now = null; // what Python has described
  let placed = []; // [number, level], in order
  let chosen = null; // the number of the line that the buttons move
  let drag = null;
  let wasDragged = false;
  const rows = new Map(); // by number

  const at = (number) => placed.findIndex(([one]) => one === number);
  const say = (text) => (told.textContent = text);
  const filled = (number) => {
    const [first, ...rest] = now.lines[number - 1].split(GAP);
    return rest.reduce((text, part, place) => text + (rows.get(number).inputs[place].value.trim() || GAP) + part, first);
  };
  const body = () => placed.map(([number, level]) => INDENT.repeat(1 + level) + filled(number));
  const levelBehind = (place) => {
    if (place === 0) return 0;
    const [number, level] = placed[place - 1];
    return Math.min(now.deepest, level + (now.lines[number - 1].endsWith(":") ? 1 : 0));
  };

  const tell = () => {
    const fills = {};
    for (const [number, { inputs }] of rows) if (inputs.length) fills[number] = inputs.map((one) => one.value);
    talk.send(name, { placed, fills });
  };
  const changed = (words) => {
    paint();
    tell();
    if (words) say(words);
  };

  // --- what can be done with a line

  const put = (number, place, level) => {
    const from = at(number);
    if (from >= 0) placed.splice(from, 1);
    placed.splice(place, 0, [number, Math.max(0, Math.min(now.deepest, level))]);
    chosen = number;
    changed(`Line ${place + 1} of ${placed.length}${level > 0 ? `, indented ${numberOf(placed[place][1], "time")}` : ""}.`);
  };
  const use = (number) => put(number, placed.length, levelBehind(placed.length));
  const takeOut = (number) => {
    placed.splice(at(number), 1);
    chosen = null;
    changed("Taken out: it is among the lines to choose from again.");
  };
  const move = (number, by) => {
    const from = at(number);
    if (from + by < 0 || from + by >= placed.length) return say(by < 0 ? "It is the first line." : "It is the last line.");
    put(number, from + by, placed[from][1]);
  };
  const indent = (number, by) => {
    const level = placed[at(number)][1] + by;
    if (level < 0 || level > now.deepest) return say(by < 0 ? "It is at the left." : "It cannot go further to the right.");
    put(number, at(number), level);
  };
  const DOING = {
    ArrowUp: (number) => move(number, -1),
    ArrowDown: (number) => move(number, 1),
    ArrowLeft: (number) => indent(number, -1),
    ArrowRight: (number) => indent(number, 1),
    Delete: takeOut,
    Backspace: takeOut,
  };

  // --- rows

  const makeRow = (number) => {
    const text = now.lines[number - 1];
    const { el: words, inputs } = lineText(text, () => {
      showText();
      tell();
    });
    const grip = element("button", { type: "button", className: "x-grip", textContent: "⠿" });
    const row = element("li", { className: "x-line" }, grip, words);
    row.addEventListener("click", (event) => {
      if (wasDragged || event.target.matches("input")) return (wasDragged = false);
      if (at(number) < 0) use(number);
      else {
        chosen = number;
        paint();
      }
      grip.focus({ preventScroll: true });
    });
    grip.addEventListener("keydown", (event) => {
      if (at(number) < 0 || !DOING[event.key]) return;
      event.preventDefault();
      DOING[event.key](number);
      if (at(number) >= 0) grip.focus();
    });
    grip.addEventListener("focus", () => {
      if (at(number) < 0 || chosen === number) return;
      chosen = number;
      paint();
    });
    row.addEventListener("pointerdown", (event) => {
      wasDragged = false;
      if (event.button !== 0 || event.target.matches("input")) return;
      if (event.pointerType !== "mouse" && event.target !== grip) return; // a finger on the text scrolls the page
      begin(number, row, event);
    });
    return { row, grip, inputs };
  };

  const place = (list, wanted) => {
    wanted.forEach((row, index) => {
      if (list.children[index] !== row) list.insertBefore(row, list.children[index] ?? null);
    });
    while (list.children.length > wanted.length) list.lastChild.remove();
  };
  const showText = () => {
    area.value = [now.head, ...body()].join("\n");
    area.rows = Math.max(3, placed.length + 1);
  };
  const paint = () => {
    const held = document.activeElement;
    const free = [...rows.keys()].filter((number) => at(number) < 0);
    for (const [number, { row, grip }] of rows) {
      const level = placed[at(number)]?.[1] ?? 0;
      const text = now.lines[number - 1].replaceAll(GAP, "gap");
      row.style.setProperty("--level", level);
      row.classList.toggle("x-chosen", number === chosen);
      const where = `line ${at(number) + 1} of ${placed.length}, ${numberOf(level, "level")} in`;
      grip.setAttribute("aria-label", at(number) < 0 ? `use: ${text}` : `${text}, ${where}`);
    }
    place(pool, free.map((number) => rows.get(number).row));
    place(program, placed.map(([number]) => rows.get(number).row));
    program.classList.toggle("x-empty", placed.length === 0);
    if (held !== document.activeElement && el.contains(held)) held.focus({ preventScroll: true });
    showText();
  };

  // --- dragging: the row follows the pointer, and a bar shows where it would go

  const bar = element("li", { className: "x-drop" });
  bar.setAttribute("aria-hidden", "true");
  const begin = (number, row, event) => {
    drag = { number, row, x: event.clientX, y: event.clientY, left: row.getBoundingClientRect().left, goal: null };
    document.addEventListener("pointermove", follow);
    document.addEventListener("pointerup", drop);
    document.addEventListener("pointercancel", stop);
    document.addEventListener("keydown", escape, true);
  };
  const follow = (event) => {
    const [dx, dy] = [event.clientX - drag.x, event.clientY - drag.y];
    if (!wasDragged && Math.hypot(dx, dy) < FAR_ENOUGH) return;
    event.preventDefault();
    wasDragged = true;
    drag.row.classList.add("x-dragged");
    drag.row.style.transform = `translate(${dx}px, ${dy}px)`;
    drag.goal = goal(event, dx);
    if (!drag.goal) return bar.remove();
    const others = [...program.children].filter((one) => one !== drag.row && one !== bar);
    bar.style.setProperty("--level", drag.goal.level);
    program.insertBefore(bar, others[drag.goal.place] ?? null);
  };
  const goal = (event, dx) => {
    const box = program.getBoundingClientRect();
    if (event.clientX < box.left - 30 || event.clientX > box.right || event.clientY < box.top - 30 || event.clientY > box.bottom + 30)
      return null;
    const others = [...program.children].filter((one) => one !== drag.row && one !== bar);
    const above = others.filter((one) => {
      const { top, bottom } = one.getBoundingClientRect();
      return (top + bottom) / 2 < event.clientY;
    }).length;
    const deepest = others.length ? now.deepest : 0;
    const level = Math.round((drag.left + dx - box.left - parseFloat(getComputedStyle(program).paddingLeft)) / LEVEL);
    return { place: above, level: Math.max(0, Math.min(deepest, level)) };
  };
  const stop = () => {
    document.removeEventListener("pointermove", follow);
    document.removeEventListener("pointerup", drop);
    document.removeEventListener("pointercancel", stop);
    document.removeEventListener("keydown", escape, true);
    bar.remove();
    drag.row.classList.remove("x-dragged");
    drag.row.style.transform = "";
    drag = null;
  };
  const escape = (event) => {
    if (event.key !== "Escape") return;
    event.stopPropagation();
    stop();
    say("It stays where it was.");
  };
  const drop = () => {
    const { number, goal: found } = drag;
    stop();
    if (!wasDragged) return;
    setTimeout(() => (wasDragged = false)); // a click that follows is the end of this drag
    if (found) put(number, found.place, found.level);
    else if (at(number) >= 0) takeOut(number);
  };

  // --- buttons

  const button = (label, mark, act) => {
    const made = element("button", { type: "button", textContent: mark, title: label });
    made.setAttribute("aria-label", label);
    made.addEventListener("click", act);
    return made;
  };
  const onChosen = (act) => () => (at(chosen) < 0 ? say("Choose a line of your program first.") : act(chosen));
  const tools = element(
    "div",
    { className: "x-tools" },
    button("move up", "↑", onChosen(DOING.ArrowUp)),
    button("move down", "↓", onChosen(DOING.ArrowDown)),
    button("indent less", "⇤", onChosen(DOING.ArrowLeft)),
    button("indent more", "⇥", onChosen(DOING.ArrowRight)),
    button("take out", "✕", onChosen(takeOut)),
  );
  tools.setAttribute("role", "group");
  tools.setAttribute("aria-label", "Move the chosen line");
  const copy = button("Copy the text", "Copy the text", async () =>
    say((await copied(area)) ? "Copied." : "This page lets nothing be copied: mark the text and copy it yourself."),
  );
  const into = button("Put it into the answer cell", "Put it into the answer cell", () => {
    const found = answerCell(now.head, body());
    if (found && pasted(found)) return say("It stands in the answer cell: run that cell, and its check.");
    say("No answer cell that is still empty is in sight: copy the text, and put it where you want it.");
  });

  const el = element(
    "div",
    { className: "x-arrange" },
    element("div", { className: "x-side" }, element("p", { className: "x-name", textContent: "Lines to choose from" }), pool),
    element("div", { className: "x-side" }, element("p", { className: "x-name", textContent: "Your program" }), head, program, tools),
    element("div", { className: "x-whole" }, area, element("div", { className: "x-tools" }, copy, into), told),
  );

  el.setAttribute("role", "group");
  el.setAttribute("aria-label", "Lines to put in order");

  const update = (wanted) => {
    const first = now === null;
    now = wanted;
    if (first) now.lines.forEach((_, index) => rows.set(index + 1, makeRow(index + 1)));
    if (drag || (!first && talk.busy())) return;
    head.textContent = now.head;
    placed = now.placed.map((pair) => [...pair]);
    for (const [number, { inputs }] of rows)
      inputs.forEach((input, index) => {
        if (document.activeElement !== input) input.value = now.fills[number]?.[index] ?? "";
        fit(input);
      });
    paint();
  };
  return { el, update };
};

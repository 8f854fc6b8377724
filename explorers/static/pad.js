// The pad to draw on, as one more kind of control: it stands behind explorer.js in the same module, and uses what is there.
// A stroke is drawn here at once. Python hears of it while it grows, and what it answers takes the stroke's place.

const LIVE = 120; // milliseconds between two messages about a stroke that grows
const NEAR = 0.3; // pixels of the drawing that a point must be away from the one before
const FAR = 4; // pixels that an arrow key moves with Shift
const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
const PEN = [" ", "Enter"];

function shape(name, attributes) {
  const one = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) one.setAttribute(key, value);
  return one;
}

function line({ points, width }) {
  const d = `M${points.map((point) => point.join(" ")).join("L")}${points.length === 1 ? "l0 0" : ""}`;
  return shape("path", { d, "stroke-width": width });
}

FIELDS.strokes = (name, talk) => {
  const el = shape("svg", { tabindex: 0, role: "application", class: "x-pad" });
  const ink = shape("g", { class: "x-pad-ink" });
  const cursor = shape("path", { class: "x-pad-cursor" });
  el.append(ink, cursor);
  const told = element("span", { className: "x-said" }); // where the keyboard's pen is
  told.setAttribute("aria-live", "polite");

  const view = Math.random().toString(36).slice(2);
  let now = null; // what Python has
  let mine = []; // strokes that Python has not answered for
  let growing = null;
  let pointer = null; // the finger or mouse that draws it
  let at = null; // the keyboard's pen
  let count = 0;
  let last = -LIVE; // the first stroke is told at once, also on a page that has just loaded

  const paint = () => {
    const keys = new Set(mine.map((stroke) => stroke.key));
    ink.replaceChildren(...[...now.strokes.filter((stroke) => !keys.has(stroke.key)), ...mine].map(line));
    const [x, y] = at;
    const r = Math.max(1.5, now.width / 2);
    const plus = `M${x - r - 1.5} ${y}h${2 * r + 3}M${x} ${y - r - 1.5}v${2 * r + 3}`;
    const around = `M${x - r} ${y}a${r} ${r} 0 1 0 ${2 * r} 0a${r} ${r} 0 1 0 ${-2 * r} 0`;
    cursor.setAttribute("d", growing ? around : plus + around);
  };

  const tell = (ended) => {
    last = performance.now();
    talk.send(name, { ...growing, points: [...growing.points], ended });
  };
  const begin = (point) => {
    growing = { key: `${view}-${(count += 1)}`, points: [point], width: now.width };
    mine.push(growing);
    paint();
  };
  const finish = () => {
    if (!growing) return;
    tell(true);
    growing = pointer = null;
    paint();
  };
  const go = (point) => {
    const [x, y] = growing.points.at(-1);
    if (Math.hypot(point[0] - x, point[1] - y) < NEAR) return;
    if (growing.points.length === now.most_points) {
      finish(); // and on with another stroke, from the same place
      begin([x, y]);
    }
    growing.points.push(point);
  };
  const live = () => {
    paint();
    if (!talk.busy() && performance.now() - last > LIVE) tell(false);
  };

  const place = (event) => {
    const { x, y } = new DOMPoint(event.clientX, event.clientY).matrixTransform(el.getScreenCTM().inverse());
    return [x, y].map((one) => Math.round(one * 100) / 100);
  };
  const within = (one) => Math.min(now.side - 0.5, Math.max(0.5, Math.floor(one) + 0.5));

  el.addEventListener("pointerdown", (event) => {
    if (!event.isPrimary || event.button !== 0) return;
    event.preventDefault();
    finish();
    el.focus({ preventScroll: true });
    el.classList.remove("x-by-keys");
    el.setPointerCapture(event.pointerId);
    begin(place(event));
    pointer = event.pointerId;
  });
  el.addEventListener("pointermove", (event) => {
    if (pointer === null || event.pointerId !== pointer) return;
    const between = event.getCoalescedEvents?.() ?? [];
    const id = pointer;
    for (const one of between.length ? between : [event]) go(place(one));
    pointer = id; // also where a full stroke went on as another
    live();
  });
  for (const kind of ["pointerup", "pointercancel", "lostpointercapture"])
    el.addEventListener(kind, (event) => {
      if (pointer === null || event.pointerId !== pointer) return;
      if (kind === "pointerup") at = place(event).map(within);
      finish();
    });

  el.addEventListener("focus", () => el.classList.add("x-by-keys")); // a pointer takes it away again
  el.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (PEN.includes(event.key)) {
      event.preventDefault();
      if (event.repeat) return;
      if (growing) finish();
      else begin(at), live();
    } else if (ARROWS[event.key]) {
      event.preventDefault();
      if (pointer !== null) return;
      const step = event.shiftKey ? FAR : 1;
      at = at.map((one, axis) => within(one + step * ARROWS[event.key][axis]));
      if (growing) go(at), live();
    } else return;
    el.classList.add("x-by-keys");
    told.textContent = `${growing ? "Pen down" : "Pen up"}, column ${Math.ceil(at[0])}, row ${Math.ceil(at[1])}`;
    paint();
  });
  el.addEventListener("blur", () => finish()); // the keyboard's pen is not left lying

  const update = (wanted) => {
    now = wanted;
    at ??= [now.side / 2 - 0.5, now.side / 2 - 0.5];
    el.setAttribute("viewBox", `0 0 ${now.side} ${now.side}`);
    el.setAttribute("aria-label", now.label);
    if (!told.isConnected) el.after(told);
    if (!talk.busy()) mine = mine.filter((stroke) => stroke === growing);
    paint();
  };
  return { el, update };
};

// The pad of the first page: what is drawn on it is read here, by a network whose weights stand in the page. Behind this
// script comes explorers/static/pad.js, the drawing itself, which finds two names here that explorer.js has in a notebook.

const FIELDS = {};

function element(name, properties, ...children) {
  const made = Object.assign(document.createElement(name), properties);
  made.append(...children);
  return made;
}

const handwriting = (() => {
  const SIDE = 32; // pixels in each row and each column of a drawing
  const ENLARGED = 30; // and of what is cut out of it, within a rim of one
  const BLOCKS = 8; // numbers in each row and each column of what the network sees
  const TIE = 1e-4; // pixels: those whose centers lie on the edge of the brush are under it

  /** The pixels (32 × 32) whose centers are under the brush: 1 for ink, 0 for paper. */
  function inkOf(strokes) {
    const ink = new Uint8Array(SIDE * SIDE);
    for (const { points, width } of strokes)
      points.forEach((end, i) => blacken(ink, points[Math.max(0, i - 1)], end, width / 2 + TIE));
    return ink;
  }

  function blacken(ink, [x0, y0], [x1, y1], reach) {
    const [across, down] = [x1 - x0, y1 - y0];
    const squared = Math.max(across * across + down * down, 1e-9);
    const first = (a, b) => Math.max(0, Math.floor(Math.min(a, b) - reach));
    const last = (a, b) => Math.min(SIDE - 1, Math.ceil(Math.max(a, b) + reach));
    for (let row = first(y0, y1); row <= last(y0, y1); row += 1)
      for (let column = first(x0, x1); column <= last(x0, x1); column += 1) {
        const [x, y] = [column + 0.5 - x0, row + 0.5 - y0];
        const share = Math.min(1, Math.max(0, (x * across + y * down) / squared));
        if (Math.sqrt((x - share * across) ** 2 + (y - share * down) ** 2) <= reach) ink[row * SIDE + column] = 1;
      }
  }

  /** The first and last row and column with ink; null on empty paper. */
  function boxOf(ink) {
    const places = [...ink.keys()].filter((place) => ink[place]);
    if (!places.length) return null;
    const columns = places.map((place) => place % SIDE);
    const row = (place) => Math.floor(place / SIDE);
    return { top: row(places[0]), bottom: row(places.at(-1)), left: Math.min(...columns), right: Math.max(...columns) };
  }

  /** What chapter 6 makes of a drawing: cut to the box of its ink, enlarged, and the ink of each 4 × 4 counted, (8 × 8). */
  function boxed(ink) {
    const seen = new Float64Array(BLOCKS * BLOCKS);
    const box = boxOf(ink);
    if (!box) return seen;
    const [height, width] = [box.bottom - box.top + 1, box.right - box.left + 1];
    const side = Math.max(height, width);
    const top = box.top - Math.floor((side - height) / 2);
    const left = box.left - Math.floor((side - width) / 2);
    const scale = Math.fround(side / ENLARGED); // rounded as torch rounds it
    const from = (place) => Math.min(Math.floor(Math.fround(place * scale)), side - 1);
    const block = (place) => Math.floor((place + 1) / (SIDE / BLOCKS));
    for (let row = 0; row < ENLARGED; row += 1)
      for (let column = 0; column < ENLARGED; column += 1) {
        const [y, x] = [top + from(row), left + from(column)];
        const isPaper = y >= 0 && y < SIDE && x >= 0 && x < SIDE;
        if (isPaper && ink[y * SIDE + x]) seen[block(row) * BLOCKS + block(column)] += 1;
      }
    return seen;
  }

  /** Each kind of layer: from maps, channels × side × side in one row of numbers, to the next ones. */
  const LAYERS = {
    relu: (_, { side, values }) => ({ side, values: values.map((value) => Math.max(0, value)) }),

    pool({ side: step }, { side, values }) {
      const small = side / step;
      const next = new Float64Array(values.length / step ** 2).fill(-Infinity);
      values.forEach((value, place) => {
        const [map, row, column] = [Math.floor(place / side ** 2), Math.floor(place / side) % side, place % side];
        const to = (map * small + Math.floor(row / step)) * small + Math.floor(column / step);
        next[to] = Math.max(next[to], value);
      });
      return { side: small, values: next };
    },

    linear({ shape: [outputs, inputs], weights, bias }, { values }) {
      const sum = (output) => values.reduce((all, value, input) => all + value * weights[output * inputs + input], 0);
      return { side: 1, values: Float64Array.from({ length: outputs }, (_, output) => sum(output) + bias[output]) };
    },

    conv({ shape: [outputs, inputs, width], padding, weights, bias }, { side, values }) {
      const next = new Float64Array(outputs * side * side);
      for (let output = 0; output < outputs; output += 1)
        for (let place = 0; place < side * side; place += 1) {
          const [top, left] = [Math.floor(place / side) - padding, (place % side) - padding];
          let sum = bias[output];
          for (let input = 0; input < inputs; input += 1)
            for (let row = Math.max(0, -top); row < Math.min(width, side - top); row += 1)
              for (let column = Math.max(0, -left); column < Math.min(width, side - left); column += 1)
                sum +=
                  values[(input * side + top + row) * side + left + column] *
                  weights[((output * inputs + input) * width + row) * width + column];
          next[output * side * side + place] = sum;
        }
      return { side, values: next };
    },
  };

  /** A layer with its weights as numbers: one byte each, times the step of its output. */
  function unpacked(layer) {
    if (!layer.weights) return layer;
    const whole = Int8Array.from(atob(layer.weights), (letter) => letter.charCodeAt(0));
    const each = whole.length / layer.shape[0];
    return { ...layer, weights: Float64Array.from(whole, (value, place) => value * layer.steps[Math.floor(place / each)]) };
  }

  /** What the network says of a drawing: what it sees, (8 × 8), and ten shares that sum to 1. */
  function read({ layers, largest }, ink) {
    const seen = boxed(ink);
    const maps = { side: BLOCKS, values: seen.map((count) => count / largest) };
    const scores = layers.reduce((now, layer) => LAYERS[layer.kind](layer, now), maps).values;
    const powers = scores.map((score) => Math.exp(score - Math.max(...scores)));
    const sum = powers.reduce((all, power) => all + power);
    return { seen, shares: powers.map((power) => power / sum) };
  }

  function network(data) {
    return { ...data, layers: data.layers.map(unpacked) };
  }

  return { inkOf, boxOf, read, network };
})();

document.addEventListener("DOMContentLoaded", () => {
  for (const root of document.querySelectorAll(".live-pad")) {
    const reader = handwriting.network(JSON.parse(root.querySelector("script[type='application/json']").textContent));
    const find = (selector) => root.querySelector(selector);
    let strokes = []; // all that is drawn

    const show = ({ seen, shares }, verdict) => {
      find(".x-pad-verdict").textContent = verdict;
      const shade = (count, place) =>
        shape("rect", {
          x: place % 8, y: Math.floor(place / 8), width: 1, height: 1, fill: "currentColor", "fill-opacity": count / reader.largest,
        });
      find(".x-pixels").replaceChildren(...Array.from(seen, shade));
      const largest = shares.indexOf(Math.max(...shares));
      root.querySelectorAll(".x-bars tbody tr").forEach((row, digit) => {
        row.classList.toggle("x-largest", digit === largest && shares[digit] > 0);
        row.querySelector(".x-bar").style.width = `${100 * shares[digit]}%`;
        row.querySelector(".x-share").textContent = percent(shares[digit]);
      });
    };
    const percent = (share) => `${Math.round(100 * share)}\u00a0%`;

    const read = (isDone) => {
      const ink = handwriting.inkOf(strokes);
      const box = handwriting.boxOf(ink);
      const isSmall = !box || Math.max(box.bottom - box.top, box.right - box.left) < reader.small;
      const reading = isSmall ? { seen: Array(64).fill(0), shares: Array(10).fill(0) } : handwriting.read(reader, ink);
      const digit = reading.shares.indexOf(Math.max(...reading.shares));
      const words = `The model reads ${digit === 8 ? "an" : "a"} ${digit} (${percent(reading.shares[digit])}).`;
      const verdict = box ? (isSmall ? reader.dot : words) : reader.empty;
      show(reading, verdict);
      find("[role='status']").textContent = isDone ? verdict : "Drawing."; // read aloud once a stroke has ended
    };

    const draw = (stroke) => {
      strokes = [...strokes.filter(({ key }) => key !== stroke.key), stroke];
      find(".x-pad-asks").textContent = "Draw a digit.";
      pad.update({ ...reader.pad, strokes });
      read(stroke.ended);
    };
    const pad = FIELDS.strokes("draw", { send: (_, stroke) => draw(stroke), busy: () => false });
    const paper = find(".x-pad");
    const sample = [...paper.querySelectorAll("path")].map((each) => ({
      key: each.getAttribute("d"),
      points: each.getAttribute("d").slice(1).split("L").map((point) => point.split(" ").map(Number)),
      width: reader.pad.width,
    }));
    paper.replaceWith(pad.el);
    pad.update({ ...reader.pad, strokes: sample });
    pad.el.addEventListener("pointerdown", () => pad.update({ ...reader.pad, strokes })); // the sample makes room
    find("button").addEventListener("click", () => {
      strokes = [];
      find(".x-pad-asks").textContent = "Draw a digit.";
      pad.update({ ...reader.pad, strokes });
      read(true);
    });
  }
});

// Draw the map's points, and turn an area that is dragged over into the address of its list.
"use strict";
(async () => {
  const canvas = document.getElementById("map");
  const answer = await fetch(canvas.dataset.points);
  if (!answer.ok) return;
  const bytes = new Uint8Array(await answer.arrayBuffer());
  const end = bytes.indexOf(10);
  const head = JSON.parse(new TextDecoder().decode(bytes.subarray(0, end)));
  const count = head.count;
  const body = bytes.buffer.slice(end + 1);
  const xs = new Uint16Array(body.slice(4 * count, 6 * count));
  const ys = new Uint16Array(body.slice(6 * count, 8 * count));
  const kinds = new Uint8Array(body, 8 * count, count);
  const ages = new Uint8Array(body, 9 * count, count);
  const by = document.getElementById("map-by");
  const legend = document.getElementById("map-legend");
  const size = canvas.width;
  const context = canvas.getContext("2d");
  document.getElementById("map-colours").hidden = false;

  const groups = {
    category: [head.categories, (at) => kinds[at] >> 2],
    status: [head.statuses, (at) => kinds[at] & 3],
    age: [
      ["a week or less", "a month", "a quarter", "a year", "older"],
      (at) => [1, 4, 13, 52, 255].findIndex((weeks) => ages[at] <= weeks),
    ],
  };
  const colour = (at, of) => {
    const [r, g, b] = [0, 120, 240].map((turn) => {
      const angle = ((at / of) * 360 + turn) * (Math.PI / 180);
      return Math.round(128 + 90 * Math.cos(angle));
    });
    return [r, g, b];
  };

  const draw = () => {
    const [names, group] = groups[by.value];
    const image = context.createImageData(size, size);
    const pixels = new Uint32Array(image.data.buffer);
    const packed = names.map((_, at) => {
      const [r, g, b] = colour(at, names.length);
      return ((255 << 24) | (b << 16) | (g << 8) | r) >>> 0;
    });
    const totals = names.map(() => 0);
    const radius = count > 5000 ? 1 : count > 500 ? 2 : 4;
    const span = size - 2 * radius - 1;
    for (let at = 0; at < count; at++) {
      const of = group(at);
      totals[of]++;
      const x = radius + Math.round((xs[at] / 65535) * span);
      const y = radius + Math.round((ys[at] / 65535) * span);
      for (let row = y - radius; row < y + radius; row++)
        pixels.fill(packed[of], row * size + x - radius, row * size + x + radius);
    }
    context.putImageData(image, 0, 0);
    legend.replaceChildren(
      ...names.flatMap((name, at) => {
        if (!totals[at]) return [];
        const item = document.createElement("li");
        const swatch = document.createElement("span");
        swatch.className = "swatch";
        swatch.style.backgroundColor = `rgb(${colour(at, names.length)})`;
        item.append(swatch, ` ${name} ${totals[at]}`);
        return [item];
      }),
    );
    if (canvas.dataset.area) frame(canvas.dataset.area.split(",").map(Number));
  };
  const frame = ([left, top, right, bottom]) => {
    context.strokeStyle = getComputedStyle(canvas).color;
    context.lineWidth = 2;
    context.strokeRect(left * size, top * size, (right - left) * size, (bottom - top) * size);
  };

  const place = (event) => [event.offsetX / canvas.clientWidth, event.offsetY / canvas.clientHeight];
  let start = null;
  canvas.addEventListener("pointerdown", (event) => {
    start = place(event);
    canvas.setPointerCapture(event.pointerId);
  });
  canvas.addEventListener("pointermove", (event) => {
    if (!start) return;
    const now = place(event);
    draw();
    frame([...start, ...now]);
  });
  canvas.addEventListener("pointerup", (event) => {
    const [from, to] = [start, place(event)];
    start = null;
    const low = from.map((part, at) => Math.max(0, Math.min(part, to[at])));
    const high = from.map((part, at) => Math.min(1.0001, Math.max(part, to[at])));
    if (high[0] - low[0] > 0.005 && high[1] - low[1] > 0.005)
      location.assign(`/map?area=${[...low, ...high].map((part) => part.toFixed(4))}`);
  });
  by.addEventListener("change", draw);
  const began = performance.now();
  draw();
  canvas.dataset.drawnMs = Math.round(performance.now() - began);
})();

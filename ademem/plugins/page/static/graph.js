// Draw the graph: circles are memories, squares what joins them, dashed lines contradictions.
"use strict";
const MARGIN = 90;  // for the names of the outermost nodes
(async () => {
  const svg = document.querySelector("[data-drawing]");
  const answer = await fetch(svg.dataset.drawing);
  if (!answer.ok) return;
  const { nodes, edges } = await answer.json();
  const [xs, ys] = [2, 3].map((at) => nodes.map((node) => node[at]));
  const [left, top] = [Math.min(...xs) - MARGIN, Math.min(...ys) - MARGIN];
  const [width, height] = [Math.max(...xs) + MARGIN - left, Math.max(...ys) + MARGIN - top];
  svg.setAttribute("viewBox", [left, top, width, height].join(" "));
  svg.style.maxHeight = `min(80vh, ${1.5 * height}px)`;

  const pane = svg.parentElement;  // on a narrow screen it begins at the centre
  pane.scrollLeft = (-left / width) * pane.scrollWidth - pane.clientWidth / 2;

  const add = (parent, name, values, text = "") => {
    const made = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const [key, value] of Object.entries(values)) made.setAttribute(key, value);
    made.textContent = text;
    parent.append(made);
    return made;
  };
  for (const [a, b, isAgainst] of edges) {
    const [x1, y1, x2, y2] = [nodes[a][2], nodes[a][3], nodes[b][2], nodes[b][3]];
    add(svg, "line", { x1, y1, x2, y2, ...(isAgainst && { class: "against" }) });
  }
  const isCrowded = nodes.filter((node) => node[4] === 1).length > 24;
  for (const [kind, name, x, y, depth, label] of nodes) {
    const isMemory = kind === "memory";
    const asked = encodeURIComponent(name);
    const href = isMemory ? `/memory/${asked}` : `/graph?${kind}=${asked}`;
    const link = add(svg, "a", { href, tabindex: -1 });
    const shape = isMemory
      ? add(link, "circle", { cx: x, cy: y, r: depth ? 6 : 9 })
      : add(link, "rect", { x: x - 6, y: y - 6, width: 12, height: 12 });
    add(shape, "title", {}, isMemory ? label : `${kind} ${label}`);
    if (!isMemory || depth < (isCrowded ? 1 : 2)) add(link, "text", { x, y: y - 11 }, label.length > 22 ? `${label.slice(0, 21)}…` : label);
  }
})();

// Plots: each draws the numbers of a table beside it, one line a column.
"use strict";
(() => {
  const DASHES = [[], [8, 4], [2, 3], [8, 3, 2, 3]];
  const draw = (figure) => {
    const table = document.getElementById(figure.dataset.plot);
    const rows = [...table.tBodies[0].rows].reverse(); // tables begin with the newest
    const labels = rows.map((row) => row.cells[0].innerText.trim());
    const heads = [...table.tHead.rows[0].cells].filter((cell) => cell.dataset.line !== undefined);
    const values = (head) =>
      rows.map((row) => {
        const text = row.cells[head.cellIndex].innerText.replaceAll(",", "");
        return text.trim() === "" || Number.isNaN(Number(text)) ? null : Number(text);
      });
    const axis = { stroke: getComputedStyle(figure).color, grid: { stroke: getComputedStyle(figure).borderTopColor } };
    const [least, most] = (figure.dataset.range || "").split(" ").map(Number);
    const size = () => ({ width: figure.clientWidth, height: 220 });
    const plot = new uPlot(
      {
        ...size(),
        padding: [null, 36, null, null],
        cursor: { show: false },
        legend: { live: false },
        scales: { x: { time: false }, y: most ? { range: [least, most] } : {} },
        axes: [
          { ...axis, incrs: [1, 2, 5, 10, 20, 50, 100], values: (_, at) => at.map((i) => labels[i] || "") },
          { ...axis, size: 64 },
        ],
        series: [
          {},
          ...heads.map((head, i) => ({
            label: head.innerText,
            stroke: getComputedStyle(head).color,
            dash: DASHES[i % DASHES.length],
            width: 2,
            points: { show: true, size: 5 },
          })),
        ],
      },
      [rows.map((_, i) => i), ...heads.map(values)],
      figure,
    );
    new ResizeObserver(() => plot.setSize(size())).observe(figure);
  };
  document.querySelectorAll("[data-plot]").forEach(draw);
})();

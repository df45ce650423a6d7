// Keys of the page: each presses, opens or focuses an element that also works by mouse and form.
"use strict";
(() => {
  const find = (name, key) => document.querySelector(`[data-${name}="${CSS.escape(key)}"]`);
  const isShown = (element) => element && element.getClientRects().length > 0;

  document.addEventListener("keydown", (event) => {
    const field = event.target.closest("input:not([type=checkbox]), textarea, select");
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (field) {
      if (event.key === "Escape") field.blur();
      return;
    }
    const key = event.key;
    if (key === "/") {
      event.preventDefault();
      (document.getElementById("words") || document.getElementById("find")).focus();
      return;
    }
    if (key.length !== 1) return;
    const bulk = document.querySelector("#selected input[name=id]:checked") && find("bulk", key);
    const press = bulk || find("key", key);
    const open = find("open", key);
    const focus = find("focus", key);
    const check = find("check", key);
    if (isShown(press)) press.click();
    else if (isShown(open)) {
      open.parentElement.open = !open.parentElement.open;
      (open.parentElement.querySelector("textarea, input:not([type=hidden])") || open).focus();
    } else if (isShown(focus)) focus.focus();
    else if (check) check.checked = !check.checked;
    else return;
    event.preventDefault();
  });

  // A swap must not lose the focus.
  document.addEventListener("htmx:afterSettle", () => {
    if (document.activeElement === document.body) document.getElementById("card")?.focus();
  });
})();

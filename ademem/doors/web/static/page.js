"use strict";

// Keys of the page: each presses, opens or focuses an element that also works by mouse and form.
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

// Live: what sessions, commands and other windows wrote since the page was read.
(() => {
  const kinds = ["memory", "review", "session", "injection", "guard", "job", "files"];
  const mark = document.getElementById("live");
  const news = document.getElementById("news");
  if (!mark) return;
  const wanted = mark.dataset.kinds.split(" ");
  let seen = Number(mark.dataset.event);  // events up to this one are on the page
  let last = seen;
  let count = 0;
  let pauseMs = 1000;
  let source, timer;

  function show(isLive) {
    mark.textContent = isLive ? "● live" : "○ connection lost";
    mark.classList.toggle("good", isLive);
    mark.classList.toggle("warn", !isLive);
    if (isLive === !news.dataset.lost) return;
    if (isLive) delete news.dataset.lost;
    else news.dataset.lost = "yes";
    if (!news.querySelector("button")) news.textContent = isLive ? "" : "Connection lost; trying again.";
  }

  function connect() {
    close();
    source = new EventSource(`/events?last=${last || ""}`);
    source.onopen = () => { pauseMs = 1000; show(true); };
    source.onerror = () => {
      close();
      show(false);
      timer = setTimeout(connect, pauseMs);
      pauseMs = Math.min(pauseMs * 2, 30000);
    };
    for (const kind of kinds) source.addEventListener(kind, hear);
    source.addEventListener("reload", (event) => { last = Number(event.lastEventId); offer(); });
  }

  function close() {
    clearTimeout(timer);
    source?.close();
  }

  function hear(event) {
    last = Number(event.lastEventId);
    if (last <= seen || !wanted.includes(event.type)) return;
    const found = JSON.parse(event.data);
    const session = document.querySelector("[data-session]")?.dataset.session;
    if (session && !(session in found.sessions)) return;
    count += session ? found.sessions[session] : found.count;
    offer();
  }

  function offer() {
    const button = news.querySelector("button") || document.createElement("button");
    button.textContent = count ? `${count} new` : "Changed";
    button.onclick = take;
    if (!button.isConnected) news.replaceChildren(button);
  }

  function cover(id) {
    if (!id) return;
    seen = Math.max(seen, Number(id));
    if (seen < last) return;
    count = 0;
    news.replaceChildren();
  }

  async function take() {
    const address = document.querySelector("[data-here]")?.dataset.here || location.href;
    const answer = await fetch(address).catch(() => null);
    if (!answer?.ok) return location.assign(address);
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    const rows = () => [...document.querySelectorAll("main [data-row]")];
    const known = new Set(rows().map((row) => row.dataset.row));
    const main = document.getElementById("main");
    main.replaceChildren(...page.getElementById("main").childNodes);
    htmx.process(main);
    const fresh = rows().filter((row) => !known.has(row.dataset.row));
    for (const row of fresh) row.classList.add("fresh");
    (fresh[0]?.querySelector("a, button") || main).focus();
    cover(answer.headers.get("x-event"));
  }

  document.addEventListener("htmx:afterRequest", (event) => cover(event.detail.xhr.getResponseHeader("x-event")));
  // A browser has six connections for all its windows: the hidden ones give theirs back.
  document.addEventListener("visibilitychange", () => (document.hidden ? close() : connect()));
  if (!document.hidden) connect();
})();

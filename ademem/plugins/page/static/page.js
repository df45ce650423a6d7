"use strict";
const rows = () => [...document.querySelectorAll("main [data-row]")];

// Keys: each presses, opens or focuses what a mouse does, too.
(() => {
  const help = document.getElementById("keys");
  const here = () => rows().find((row) => row.matches(".current, :focus-within"));
  const find = (name, key) => {  // of the row with the focus, or in none
    const wanted = `[data-${name}="${CSS.escape(key)}"]`;
    return here()?.querySelector(wanted) || document.querySelector(`${wanted}:not(main [data-row] *)`);
  };
  const isShown = (element) => element && element.getClientRects().length > 0;
  const notTaken = document.getElementById("not-taken");
  let isChanging = false;  // the card is about to be another one

  for (const [name, begins] of [["htmx:beforeRequest", true], ["htmx:afterRequest", false]]) {
    document.addEventListener(name, ({ detail }) => {
      if (detail.target?.id === "review") isChanging = begins;
    });
  }

  document.addEventListener("keydown", (event) => {
    const field = event.target.closest("input:not([type=checkbox]), textarea, select");
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (field) {
      if (event.key === "Escape") field.blur();
      return;
    }
    const key = event.key;
    if (help?.open) return;
    if (key === "?") return help?.showModal();
    if (key.length !== 1) return;
    if (isChanging) {
      notTaken.textContent = `“${key}” was not taken: the next one was not shown yet.`;
      event.preventDefault();
      return;
    }
    if (notTaken) notTaken.textContent = "";
    const bulk = document.querySelector("#selected input[name=id]:checked") && find("bulk", key);
    const [open, focus, check] = ["open", "focus", "check"].map((name) => find(name, key));
    const press = bulk || find("key", key);
    if (isShown(press)) press.click();
    else if (isShown(open)) {
      const details = open.parentElement;
      details.open = !details.open;
      (details.querySelector("textarea, input:not([type=hidden])") || open).focus();
    } else if (isShown(focus)) focus.focus();
    else if (check) check.click();
    else if ("jk".includes(key)) rows()[rows().indexOf(here()) + (key === "j" ? 1 : -1)]?.querySelector("a").focus();
    else return;
    event.preventDefault();
  });

  document.addEventListener("change", ({ target }) => {
    if (target.id !== "select-all") return;
    for (const box of target.form.querySelectorAll("input[name=id]")) box.checked = target.checked;
  });

  // An address in a text is no link, as nobody vouches for it.
  document.addEventListener("click", async ({ target }) => {
    const link = target.closest("[data-copy]");
    if (!link) return;
    await navigator.clipboard.writeText(link.dataset.copy);
    link.textContent = "Copied";
  });

  // A swap must not lose the focus.
  document.addEventListener("htmx:afterSettle", () => {
    if (document.activeElement === document.body) document.getElementById("card")?.focus();
  });
})();

// Live: what sessions, commands and other windows wrote since the page was read.
(() => {
  const kinds = ["memory", "review", "session", "injection", "guard", "job", "files", "check"];
  const mark = document.getElementById("live");
  const news = document.getElementById("news");
  if (!mark) return;
  const wanted = mark.dataset.kinds.split(" ");
  const name = `events of ${mark.dataset.project}`;
  const channel = window.BroadcastChannel && navigator.locks && new BroadcastChannel(name);
  let seen = Number(mark.dataset.event);  // events up to this one are on the page
  let last = seen;
  let count = 0;
  let pauseMs = 1000;
  let isLive = false;
  let source, after, timer, leave;  // the source has what comes after an event

  function show(now) {
    isLive = now;
    mark.textContent = isLive ? "● live" : "○ connection lost";
    mark.classList.toggle("good", isLive);
    mark.classList.toggle("warn", !isLive);
    if (isLive === !news.dataset.lost) return;
    if (isLive) delete news.dataset.lost;
    else news.dataset.lost = "yes";
    if (!news.querySelector("button")) news.textContent = isLive ? "" : "Connection lost; trying again.";
  }

  // A browser has six connections for all its windows: one of them listens, and tells the others.
  function start() {
    if (leave) return;
    const ending = new AbortController();
    leave = () => { ending.abort(); close(); leave = null; };
    if (!channel) return connect(last);
    channel.postMessage({ joined: last });
    navigator.locks.request(name, { signal: ending.signal }, () => {
      if (ending.signal.aborted) return;
      channel.postMessage({ leads: last });
      connect(last);
      return new Promise((done) => ending.signal.addEventListener("abort", done));
    }).catch(() => {});  // it left before it led
  }

  function connect(from) {
    close();
    after = from;
    const asked = new URLSearchParams({ project: mark.dataset.project, last: after || "" });
    source = new EventSource(`/events?${asked}`);  // of this window's project, whatever others chose
    source.onopen = () => { pauseMs = 1000; tell({ live: true }); };
    source.onerror = () => {
      source.close();
      tell({ live: false });
      timer = setTimeout(connect, pauseMs, after);
      pauseMs = Math.min(pauseMs * 2, 30000);
    };
    for (const kind of [...kinds, "reload"]) {
      source.addEventListener(kind, (event) => {
        after = Number(event.lastEventId);
        tell({ id: after, kind, text: event.data });
      });
    }
  }

  function close() {
    clearTimeout(timer);
    source?.close();
    source = null;
  }

  function tell(message) {
    hear(message);
    channel?.postMessage(message);
  }

  function hear({ joined, leads, live, id, kind, text }) {
    if (live !== undefined) show(live);
    else if (leads > last) channel.postMessage({ joined: last });
    else if (joined < last && source) connect(Math.min(joined, after));  // known events are heard once
    else if (joined && source) channel.postMessage({ live: isLive });
    else if (kind === "reload" ? id !== last : id > last) {
      last = id;
      if (kind === "reload") offer();
      else if (id > seen && wanted.includes(kind)) add(kind, JSON.parse(text));
    }
  }

  function add(kind, found) {
    const session = document.querySelector("[data-session]")?.dataset.session;
    if (session && !(session in found.sessions)) return;
    count += session ? found.sessions[session] : found.count;
    if (document.querySelector(`[data-awaits="${kind}"]`)) take();
    else offer();
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
  if (channel) channel.onmessage = (event) => hear(event.data);
  addEventListener("pagehide", () => leave?.());
  addEventListener("pageshow", (event) => event.persisted && start());
  document.addEventListener("visibilitychange", () => (document.hidden ? leave?.() : start()));
  if (!document.hidden) start();
})();

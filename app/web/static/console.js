// What a page does beside being read: it reads itself again when something has changed, counts time down, and says
// times in the reader's own zone. Without it everything works; one reloads.
"use strict";

(() => {
  const main = document.getElementById("main");
  const news = document.getElementById("news");
  const spans = [["day", 86400], ["hour", 3600], ["minute", 60], ["second", 1]];
  const moment = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" });
  // The server's clock decides; what a reader's own is off by is put right once.
  const ahead = "now" in main.dataset ? Date.now() - Date.parse(main.dataset.now) : 0;

  function span(seconds) {
    const [unit, size] = spans.find(([, length]) => seconds >= length) || spans[3];
    const count = Math.floor(Math.max(0, seconds) / size);
    return `${count} ${unit}${count === 1 ? "" : "s"}`;
  }

  function tick() {
    const now = Date.now() - ahead;
    for (const time of main.querySelectorAll("time[data-until]")) {
      const left = Math.ceil((Date.parse(time.dateTime) - now) / 1000);
      time.textContent = span(left);
      time.classList.toggle("soon", left < 120);
      if (left <= 0 && !time.dataset.over) {
        time.dataset.over = "yes";
        setTimeout(readAgain, 1200);
      }
    }
    for (const time of main.querySelectorAll("time[data-ago]")) {
      time.textContent = `${span((now - Date.parse(time.dateTime)) / 1000)} ago`;
    }
  }

  function localise() {
    for (const time of main.querySelectorAll("time[data-local]")) {
      time.textContent = moment.format(new Date(time.dateTime));
    }
  }

  function typed() {
    return [...main.querySelectorAll("textarea, input:not([type=hidden])")].some((field) => field.value !== field.defaultValue);
  }

  // What a page says, apart from how much time has passed.
  function essence(page) {
    const copy = page.cloneNode(true);
    copy.querySelectorAll("time").forEach((time) => time.remove());
    return copy.textContent.replace(/\s+/g, " ");
  }

  function say(sentence, offersReload) {
    news.replaceChildren(sentence);
    news.classList.toggle("silent", !offersReload);
    if (offersReload) {
      const button = document.createElement("button");
      button.textContent = "Read again";
      button.addEventListener("click", () => location.reload());
      news.append(button);
    }
  }

  function keepTyped(before, after) {
    for (const field of before.querySelectorAll("textarea[id], input[id]")) {
      const same = after.querySelector(`#${CSS.escape(field.id)}`);
      if (same && field.value !== field.defaultValue) same.value = field.value;
    }
  }

  async function readAgain() {
    if ("keep" in main.dataset && typed()) return say(main.dataset.live, true);
    const answer = await fetch(location.href, { headers: { Accept: "text/html" }, credentials: "same-origin" }).catch(() => null);
    if (!answer) return;
    const fresh = new DOMParser().parseFromString(await answer.text(), "text/html");
    const found = fresh.getElementById("main");
    if (!found) return;
    const differs = essence(found) !== essence(main);
    const focused = document.activeElement && main.contains(document.activeElement) ? document.activeElement : null;
    const place = focused && focused.id ? focused.id : null;
    const [start, end] = focused && "selectionStart" in focused ? [focused.selectionStart, focused.selectionEnd] : [null, null];
    const open = [...main.querySelectorAll("details")].map((details) => details.open);
    keepTyped(main, found);
    main.replaceChildren(...found.childNodes);
    document.title = fresh.title;
    main.querySelectorAll("details").forEach((details, index) => { if (open[index]) details.open = true; });
    const again = place && document.getElementById(place);
    if (again) {
      again.focus({ preventScroll: true });
      if (start !== null && "setSelectionRange" in again) again.setSelectionRange(start, end);
    } else if (focused) {
      main.focus({ preventScroll: true });
    }
    settle();
    if (differs) say(main.dataset.live || "", false);
  }

  function settle() {
    localise();
    tick();
  }

  function watch() {
    const hints = new EventSource("/console/events");
    let waiting = null;
    hints.addEventListener("changed", () => {
      clearTimeout(waiting);
      waiting = setTimeout(readAgain, 150);
    });
    // A session that has ended closes the stream for good; the page then asks for a key.
    hints.addEventListener("error", () => { if (hints.readyState === EventSource.CLOSED) setTimeout(readAgain, 500); });
  }

  function markTouched(event) {
    const field = event.target;
    if (field.matches("[data-edit]")) field.classList.toggle("touched", field.value !== field.defaultValue);
  }

  settle();
  setInterval(tick, 1000);
  main.addEventListener("input", markTouched);
  if ("live" in main.dataset) watch();
})();

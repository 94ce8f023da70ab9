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

  // What a page says, with moments instead of how long they are away.
  function essence(page) {
    const copy = page.cloneNode(true);
    copy.querySelectorAll("time").forEach((time) => time.replaceWith(time.dateTime));
    return copy.textContent.replace(/\s+/g, " ");
  }

  function say(sentence, offersReload) {
    news.replaceChildren(sentence);
    news.classList.toggle("silent", !offersReload);
    if (offersReload) {
      const button = document.createElement("button");
      button.textContent = "Read again";
      button.addEventListener("click", () => location.assign(location.pathname));
      news.append(button);
    }
  }

  // How to find what has the focus in the page read anew.
  function placeOf(element) {
    if (element.id && element !== main) return `#${CSS.escape(element.id)}`;
    if (element.href) return `a[href="${CSS.escape(element.getAttribute("href"))}"]`;
    return element.name ? `${element.localName}[name="${CSS.escape(element.name)}"][value="${CSS.escape(element.value)}"]` : null;
  }

  function keepTyped(before, after) {
    for (const field of before.querySelectorAll("textarea[id], input[id]")) {
      const same = after.querySelector(`#${CSS.escape(field.id)}`);
      if (same && field.value !== field.defaultValue) same.value = field.value;
    }
  }

  // Where the focus is and what is selected in it, and the way back there.
  function holdFocus() {
    const focused = document.activeElement;
    if (!focused || !main.contains(focused)) return () => {};
    const place = placeOf(focused);
    const { selectionStart: start, selectionEnd: end } = focused;
    return () => {
      const again = (place && main.querySelector(place)) || main;
      again.focus({ preventScroll: true });
      if (typeof start === "number") again.setSelectionRange?.(start, end);
    };
  }

  function show(page) {
    const found = page.getElementById("main");
    const open = [...main.querySelectorAll("details")].map((details) => details.open);
    const returnFocus = holdFocus();
    keepTyped(main, found);
    main.replaceChildren(...found.childNodes);
    document.title = page.title;
    main.querySelectorAll("details").forEach((details, index) => { details.open ||= open[index]; });
    returnFocus();
    settle();
    say(main.dataset.live || "", false);
  }

  async function readAgain() {
    if ("keep" in main.dataset && typed()) return say(main.dataset.live, true);
    const answer = await fetch(location.href, { headers: { Accept: "text/html" } }).catch(() => null);
    if (!answer || answer.status >= 500) return;
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    const [was, now] = [before, essence(page.getElementById("main"))];
    before = now;
    if (now === was) return;
    if (!answers) show(page);
    else if (was !== null) say(main.dataset.live, true);
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

  // A page that answers a form holds what was typed and what is wrong with it, which reading again would lose.
  const answers = "answers" in main.dataset;
  let before = answers ? null : essence(main);

  settle();
  if (answers) readAgain();
  setInterval(tick, 1000);
  main.addEventListener("input", markTouched);
  if ("live" in main.dataset) watch();
})();

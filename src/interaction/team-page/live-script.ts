/** Runs in the browser: takes over what is new of the page, and leaves alone what the reader has open, scrolled or focused. */
export const LIVE_SCRIPT = `
"use strict";
(() => {
  const line = document.getElementById("live");
  const main = document.getElementById("main");
  const parts = new Map([...document.querySelectorAll("[data-part]")].map((part) => [part.id, part.innerHTML]));
  let isLoading = false;
  let isStale = false;
  let hasEnded = false;

  function say(text) {
    if (line.textContent !== text) line.textContent = text;
  }

  function replace(old, fresh) {
    const open = new Map([...old.querySelectorAll("details[id]")].map((one) => [one.id, one.open]));
    const scrolled = [...old.querySelectorAll(".scroll")].map((one) => [one.id, one.scrollLeft]);
    const active = document.activeElement;
    const focused = active && active !== old && old.contains(active) ? active.id || active.closest("[id]").id : undefined;
    const wasSummary = active && active.tagName === "SUMMARY";
    old.replaceChildren(...fresh.childNodes);
    for (const one of old.querySelectorAll("details[id]")) if (open.has(one.id)) one.open = open.get(one.id);
    for (const [id, left] of scrolled) {
      const region = document.getElementById(id);
      if (region) region.scrollLeft = left;
    }
    const again = focused === undefined ? null : document.getElementById(focused);
    const target = again && wasSummary ? again.querySelector("summary") : again;
    if (target) target.focus({ preventScroll: true });
  }

  async function load() {
    isStale = true;
    if (isLoading) return;
    isLoading = true;
    try {
      while (isStale) {
        isStale = false;
        const answer = await fetch("/", { cache: "no-store" });
        if (!answer.ok) throw new Error(String(answer.status));
        const page = new DOMParser().parseFromString(await answer.text(), "text/html");
        for (const part of page.querySelectorAll("[data-part]")) {
          const old = document.getElementById(part.id);
          if (!old || parts.get(part.id) === part.innerHTML) continue;
          parts.set(part.id, part.innerHTML);
          replace(old, part);
        }
        main.dataset.version = page.getElementById("main").dataset.version;
      }
    } catch {
      if (!hasEnded) say("The connection is lost. This is the last state that came.");
    } finally {
      isLoading = false;
    }
  }

  const source = new EventSource("/events");
  source.addEventListener("open", () => say("Live: this page follows the team."));
  source.addEventListener("error", () => {
    if (!hasEnded) say("The connection is lost. This is the last state that came.");
  });
  source.addEventListener("message", ({ data }) => {
    if (data !== main.dataset.version) void load();
  });
  source.addEventListener("end", () => {
    hasEnded = true;
    source.close();
    void load().then(() => say("The team has ended. This is its last state."));
  });
})();
`;

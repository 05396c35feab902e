"use strict";
(() => {
  const every = (selector, within = document) => [...within.querySelectorAll(selector)];
  const filters = document.querySelector(".filters");
  const tasks = every("details.task");
  const cards = every(".cards .card");

  // Filter: a task is shown if it fits and has a case that fits, or if only tasks are asked for.
  const field = (name) => document.getElementById(name);
  const words = new Map();
  const wordsOf = (element) => {
    if (!words.has(element)) words.set(element, element.textContent.toLowerCase());
    return words.get(element);
  };
  const headOf = (task) => (task.id + " " + (task.querySelector(".question")?.textContent ?? "")).toLowerCase();

  function filter() {
    const search = field("search").value.trim().toLowerCase();
    const capability = field("capability").value, verdict = field("verdict").value, tag = field("tag").value;
    let shownCards = 0, shownTasks = 0;
    for (const task of tasks) {
      const fits = (!capability || task.dataset.capability === capability)
        && (!verdict || task.dataset.words.split("\n").includes(verdict));
      const named = search && headOf(task).includes(search);
      let within = 0;
      for (const card of every(".cards .card", task)) {
        const kept = fits && (!tag || card.dataset.tags.split("\n").includes(tag))
          && (!search || named || wordsOf(card).includes(search));
        card.hidden = !kept;
        within += kept ? 1 : 0;
      }
      task.hidden = !(fits && (within || (!tag && (!search || named))));
      task.open = !task.hidden && within > 0 && Boolean(search || tag) || (task.open && !task.hidden);
      shownTasks += task.hidden ? 0 : 1;
      shownCards += task.hidden ? 0 : within;
    }
    field("found").textContent = `${shownTasks} of ${tasks.length} tasks, ${shownCards} of ${cards.length} cases`;
  }

  function openAt(element, focus) {
    for (let at = element; at; at = at.parentElement) if (at.tagName === "DETAILS") at.open = true;
    element.scrollIntoView({ block: element.tagName === "DETAILS" ? "start" : "nearest" });
    if (focus) element.focus({ preventScroll: true });
  }

  // The address of a task or a case.
  function goTo() {
    let name = decodeURIComponent(location.hash.slice(1)), element = null;
    // A case that is not on the page leads to its task.
    while (name && !(element = document.getElementById(name))) name = name.slice(0, Math.max(0, name.lastIndexOf("/")));
    if (!element) return;
    if (element.closest("[hidden]") && filters) { filters.reset(); filter(); }
    openAt(element, element.classList.contains("card"));
  }

  // j and k: the next and the previous case that is not filtered out.
  function step(by) {
    const shown = cards.filter((card) => !card.hidden && !card.closest("details.task").hidden);
    if (!shown.length) return;
    const now = shown.indexOf(document.activeElement?.closest?.(".card"));
    const next = shown[Math.min(shown.length - 1, Math.max(0, now < 0 ? (by > 0 ? 0 : shown.length - 1) : now + by))];
    openAt(next, true);
    history.replaceState(null, "", "#" + next.id);
  }

  // The two images of a perturbation, one over the other; the slider says how much of the second is shown.
  function overlay(box) {
    const [before, after] = every("img.picture", box);
    if (!before || !after) return;
    const names = every("figcaption bdi", box).map((name) => name.textContent);
    const stack = document.createElement("div");
    stack.className = "stack";
    stack.append(before, after);
    const slider = document.createElement("input");
    Object.assign(slider, { type: "range", min: 0, max: 100, value: 50 });
    slider.setAttribute("aria-label", "How much of the perturbed image is shown");
    const show = () => {
      const beside = box.classList.contains("beside");
      after.style.clipPath = beside ? "" : `inset(0 0 0 ${100 - slider.value}%)`;
      slider.setAttribute("aria-valuetext", `${slider.value} % of ${names[1]}`);
    };
    slider.addEventListener("input", show);
    const ends = document.createElement("p");
    ends.className = "ends";
    for (const [number, name] of names.entries()) {
      const end = document.createElement("bdi");
      end.textContent = `${"AB"[number]} ${name}`;
      ends.append(end);
    }
    const beside = document.createElement("button");
    beside.type = "button";
    beside.textContent = "Side by side";
    beside.setAttribute("aria-pressed", "false");
    beside.addEventListener("click", () => {
      beside.setAttribute("aria-pressed", String(box.classList.toggle("beside")));
      show();
    });
    const choice = document.createElement("p");
    choice.className = "choice";
    choice.append(slider, beside);
    box.replaceChildren(stack, ends, choice);
    box.classList.add("over");
    show();
  }

  function flip() {
    const slider = document.activeElement?.closest?.(".card")?.querySelector("input[type=range]");
    if (!slider) return;
    slider.value = Number(slider.value) > 50 ? 0 : 100;
    slider.dispatchEvent(new Event("input"));
  }

  async function copy(button) {
    const text = button.dataset.copy, label = button.textContent;
    try {
      await navigator.clipboard.writeText(text);
      button.textContent = "Copied";
    } catch {
      window.prompt("Copy:", text);
    }
    setTimeout(() => { button.textContent = label; }, 1200);
  }

  document.addEventListener("click", (event) => {
    const button = event.target.closest?.("button[data-copy]");
    if (button) copy(button);
  });
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const typing = /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName) && event.target.type !== "range";
    if (event.key === "Escape" && typing) event.target.blur();
    if (typing) return;
    if (event.key === "/" && filters) { event.preventDefault(); field("search").focus(); }
    if (event.key === "j") step(1);
    if (event.key === "k") step(-1);
    if (event.key === "x") flip();
  });
  window.addEventListener("hashchange", goTo);
  let opened = [];
  window.addEventListener("beforeprint", () => {
    opened = every("details:not([open])");
    for (const one of opened) one.open = true;
  });
  window.addEventListener("afterprint", () => { for (const one of opened) one.open = false; });

  every("button[data-copy]").forEach((button) => { button.hidden = false; });
  every(".pictures.compare").forEach(overlay);
  if (filters) {
    filters.hidden = false;
    filters.addEventListener("input", filter);
    filters.addEventListener("reset", () => setTimeout(filter));
    filters.addEventListener("submit", (event) => event.preventDefault());
    filter();
  }
  goTo();
})();

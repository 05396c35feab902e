"use strict";
(() => {
  const every = (selector, within = document) => [...within.querySelectorAll(selector)];
  const filters = document.querySelector(".filters");
  const tasks = every("details.task");
  const cards = every(".task .cards .card");

  // Filter: a task is shown if it fits and has a case that fits, or if only tasks are asked for.
  const field = (name) => document.getElementById(name);
  const words = new Map();
  const wordsOf = (element) => {
    if (!words.has(element)) words.set(element, element.textContent.toLowerCase());
    return words.get(element);
  };
  const headOf = (task) => (task.querySelector(".name").textContent + " " + (task.querySelector(".question")?.textContent ?? "")).toLowerCase();

  function filter() {
    const search = field("search").value.trim().toLowerCase();
    const capability = field("capability").value, verdict = field("verdict").value, tag = field("tag").value;
    const change = field("change")?.value ?? "";
    let shownCards = 0, shownTasks = 0;
    for (const task of tasks) {
      const fits = (!capability || task.dataset.capability === capability)
        && (!verdict || task.dataset.words.split("\n").includes(verdict));
      const named = search && headOf(task).includes(search);
      let within = 0;
      for (const card of every(".cards .card", task)) {
        const kept = fits && (!change || card.dataset.change === change) && (!tag || card.dataset.tags.split("\n").includes(tag))
          && (!search || named || wordsOf(card).includes(search));
        card.hidden = !kept;
        within += kept ? 1 : 0;
      }
      task.hidden = !(fits && (within || (!tag && !change && (!search || named))));
      task.open = !task.hidden && within > 0 && Boolean(search || tag || change) || (task.open && !task.hidden);
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

  const decoded = (text) => { try { return decodeURIComponent(text); } catch { return text; } };

  // A link of a figure: the filter with which the cases behind it are shown.
  function choose(link) {
    if (!filters) return;
    filters.reset();
    for (const name of ["tag", "change"]) {
      const value = link.dataset[name], select = field(name);
      if (!value || !select) continue;
      if (![...select.options].some((option) => option.value === value)) select.add(new Option(value, value));
      select.value = value;
    }
    filter();
  }

  // The address of a task or a case.
  function goTo() {
    let name = decoded(location.hash.slice(1)), element = null;
    // A case that was newly broken on another page is a case of its task on this one.
    if (!document.getElementById(name)) name = name.replace(/^newly-broken\/(?=.)/, "");
    // A case that is not on the page leads to its task.
    while (name && !(element = document.getElementById(name))) name = name.slice(0, Math.max(0, name.lastIndexOf("/")));
    if (!element) return;
    if (element.closest("[hidden]") && filters) { filters.reset(); filter(); }
    openAt(element, element.classList.contains("card"));
  }

  // j and k: the next and the previous case that is not filtered out.
  function step(by) {
    const shown = every("article.card[id]").filter((card) => !card.hidden && !card.closest("details.task")?.hidden);
    if (!shown.length) return;
    const now = shown.indexOf(document.activeElement?.closest?.(".card"));
    const next = shown[Math.min(shown.length - 1, Math.max(0, now < 0 ? (by > 0 ? 0 : shown.length - 1) : now + by))];
    openAt(next, true);
    history.replaceState(null, "", "#" + next.id);
  }

  // The two images of a perturbation: side by side, and one over the other once the slider, which says how much of the
  // second is shown, is moved.
  function overlay(box) {
    const [before, after] = every("img.picture", box);
    if (!before || !after) return;
    const names = every("figcaption bdi", box).map((name) => name.textContent);
    const figures = every("figure", box);
    const slider = document.createElement("input");
    Object.assign(slider, { type: "range", min: 0, max: 100, value: 50 });
    slider.setAttribute("aria-label", "How much of the perturbed image is shown, one over the other");
    const beside = document.createElement("button");
    beside.type = "button";
    beside.textContent = "Side by side";
    const show = (over) => {
      box.classList.toggle("over", over);
      after.style.clipPath = over ? `inset(0 0 0 ${100 - slider.value}%)` : "";
      slider.setAttribute("aria-valuetext", over ? `${slider.value} % of ${names[1]}` : "side by side");
      beside.hidden = !over;
    };
    slider.addEventListener("input", () => show(true));
    beside.addEventListener("click", () => { show(false); slider.focus(); });
    const choice = document.createElement("p");
    choice.className = "choice";
    choice.append(slider, beside);
    figures[1].after(choice);
    show(false);
  }

  function flip() {
    const slider = document.activeElement?.closest?.(".card")?.querySelector("input[type=range]");
    if (!slider) return;
    slider.value = Number(slider.value) >= 50 ? 0 : 100;
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

  // The images of a card side by side as one image: to the clipboard, or to a file if that may not be.
  async function copyImage(button) {
    const images = every("img.picture", button.closest(".card")), label = button.textContent;
    const canvas = document.createElement("canvas");
    canvas.width = images.reduce((sum, image) => sum + image.naturalWidth, 0);
    canvas.height = Math.max(...images.map((image) => image.naturalHeight));
    let left = 0;
    for (const image of images) {
      canvas.getContext("2d").drawImage(image, left, 0);
      left += image.naturalWidth;
    }
    const made = new Promise((done) => canvas.toBlob(done, "image/png"));
    try {
      await navigator.clipboard.write([new ClipboardItem({ "image/png": made })]);
      button.textContent = "Copied";
    } catch {
      const link = document.createElement("a");
      Object.assign(link, { href: URL.createObjectURL(await made), download: "case.png" });
      link.click();
      button.textContent = "Saved";
    }
    setTimeout(() => { button.textContent = label; }, 1200);
  }

  document.addEventListener("click", (event) => {
    const at = (selector) => event.target.closest?.(selector);
    if (at("button[data-copy]")) copy(at("button[data-copy]"));
    if (at("button.copy-image")) copyImage(at("button.copy-image"));
    if (at("a[data-tag], a[data-change]")) choose(at("a[data-tag], a[data-change]"));
    const same = at("a[href^='#']");
    if (same && decoded(same.hash) === decoded(location.hash)) goTo();  // the address does not change, but the place may
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

  every("button[data-copy], button.copy-image, span.copy").forEach((button) => { button.hidden = false; });
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

"use strict";
(() => {
  const byId = (id) => document.getElementById(id);
  const form = JSON.parse(byId("form").textContent);
  const buttons = [...document.querySelectorAll("button.answer")];
  const answers = buttons.map((button) => button.dataset.answer);
  const items = new Set(form.items.map((item) => item.id));
  const key = `vlgate-votes-${form.digest}-${form.part}`;
  let state = load();

  function load() {
    const empty = { annotator: "", position: 0, votes: {} };
    try {
      const kept = JSON.parse(localStorage.getItem(key)) || empty;
      const votes = Object.entries(kept.votes).filter(([id, answer]) => items.has(id) && answers.includes(answer));
      const position = Math.min(Math.max(Math.trunc(kept.position) || 0, 0), form.items.length - 1);
      return { annotator: String(kept.annotator), position, votes: Object.fromEntries(votes) };
    } catch {
      return empty;
    }
  }

  function save() {
    try {
      localStorage.setItem(key, JSON.stringify(state));
    } catch {
      say("This browser does not keep the answers: download them before you close the page.");
    }
  }

  function say(text) {
    byId("note").textContent = text;
  }

  function write(element, pieces) {
    element.replaceChildren(...pieces.map(([text, bold]) => {
      const piece = bold ? document.createElement("b") : document.createTextNode("");
      piece.textContent = text;
      return piece;
    }));
  }

  function show() {
    const item = form.items[state.position];
    const done = Object.keys(state.votes).length;
    byId("image").src = form.images[item.image];
    byId("image").alt = `Image of item ${state.position + 1}`;
    write(byId("first"), item.first);
    write(byId("second"), item.second);
    for (const button of buttons) {
      button.setAttribute("aria-pressed", String(state.votes[item.id] === button.dataset.answer));
    }
    byId("place").textContent = `Item ${state.position + 1} of ${form.items.length}; ${done} answered`;
    byId("progress").max = form.items.length;
    byId("progress").value = done;
    byId("back").disabled = state.position === 0;
    byId("forth").disabled = state.position === form.items.length - 1;
    byId("open").disabled = done === form.items.length;
    byId("annotator").value = state.annotator;
  }

  function go(position) {
    if (position < 0 || position >= form.items.length) return;
    state.position = position;
    save();
    show();
  }

  function vote(answer) {
    state.votes[form.items[state.position].id] = answer;
    state.position = Math.min(state.position + 1, form.items.length - 1);
    const all = Object.keys(state.votes).length === form.items.length;
    say(all ? "All items are answered. Write your name and download the answers." : "");
    save();
    show();
  }

  function toOpen() {
    const order = [...form.items.keys()].map((place) => (state.position + 1 + place) % form.items.length);
    const open = order.find((place) => !(form.items[place].id in state.votes));
    if (open !== undefined) go(open);
  }

  function download() {
    const annotator = state.annotator.trim();
    if (!annotator) {
      say("Write your name first.");
      byId("annotator").focus();
      return;
    }
    const content = { vlgate_votes: 1, form: form.digest, part: form.part, annotator, votes: state.votes };
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([JSON.stringify(content, null, 1)], { type: "application/json" }));
    const name = annotator.replace(/[^\p{L}\p{N}]+/gu, "-");
    link.download = `votes-${form.digest.slice(0, 8)}-${form.part}-${name}.json`;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10000);
    const missing = form.items.length - Object.keys(state.votes).length;
    say(missing ? `Downloaded; ${missing} items have no answer yet.` : "Downloaded; all items are answered.");
  }

  function anew() {
    if (!confirm("Delete the name and all answers of this form from this browser?")) return;
    state = { annotator: "", position: 0, votes: {} };
    save();
    show();
    say("");
  }

  function pressed(event) {
    if (event.ctrlKey || event.altKey || event.metaKey || event.target === byId("annotator")) return;
    const answer = event.key.length === 1 ? answers["12345".indexOf(event.key)] : undefined;
    if (answer !== undefined && !event.repeat) vote(answer);
    else if (event.key === "ArrowLeft") go(state.position - 1);
    else if (event.key === "ArrowRight") go(state.position + 1);
    else return;
    event.preventDefault();
  }

  for (const button of buttons) button.addEventListener("click", () => vote(button.dataset.answer));
  byId("back").addEventListener("click", () => go(state.position - 1));
  byId("forth").addEventListener("click", () => go(state.position + 1));
  byId("open").addEventListener("click", toOpen);
  byId("download").addEventListener("click", download);
  byId("anew").addEventListener("click", anew);
  byId("annotator").addEventListener("input", (event) => { state.annotator = event.target.value; save(); });
  document.addEventListener("keydown", pressed);
  window.addEventListener("storage", (event) => {
    if (event.key !== key) return;
    const { position } = state;
    state = { ...load(), position };
    show();
  });
  show();
})();

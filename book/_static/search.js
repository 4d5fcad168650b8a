/* Search by section. Sphinx finds the pages; here a result opens at the section, theorem or function of
   the page that matches best, and shows its prose without formulas. Where pages cannot be fetched, such
   as in a book read from a folder, a result stays a link to its page. */
"use strict";

const AROUND = 120; // characters of a snippet on either side of the word
const PLACE = "dl.py, div.proof:has(> p > .caption-number), section:has(> h1, > h2, > h3, > h4)";
const TITLE = "h1, h2, h3, h4, .sig-name, .proof > p:has(> .caption-number)";
const WORTH = { title: 4, prose: 2, code: 1 };
const WORD = /[\p{Letter}\p{Number}_]+/gu;

const tidy = (text) => text.replace(/\s+/g, " ").replace(/…( ?…)+/g, "…").replace(/ ([.,;:])/g, "$1").trim();

/* The places of a page, each with its own words: not those of the places inside it. */
function placesOf(html) {
  const page = new DOMParser().parseFromString(html, "text/html");
  for (const node of page.querySelectorAll(".headerlink, .masthead, script, summary")) node.remove();
  for (const node of page.querySelectorAll(".math")) node.textContent = "…";
  for (const node of page.querySelectorAll("p, li, dd, td, .classifier")) node.prepend(" ");
  const places = new Map();
  const texts = page.createTreeWalker(page.querySelector("article"), NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    const above = texts.currentNode.parentElement;
    const element = above.closest(PLACE);
    const kind = above.closest(TITLE) ? "title" : above.closest("pre, dt.sig") ? "code" : "prose";
    if (!places.has(element)) places.set(element, { title: "", prose: "", code: "" });
    places.get(element)[kind] += texts.currentNode.data;
  }
  places.delete(null); // blanks around the first section
  for (const [element, place] of places) {
    for (const kind in WORTH) place[kind] = tidy(place[kind]);
    place.id = (element.querySelector(":scope > dt") ?? element).id;
    place.isPage = element.querySelector(":scope > h1") !== null;
    place.covers = (id) => page.getElementById(id)?.closest(PLACE) === element;
  }
  return [...places.values()];
}

/* The first of the items that have the greatest value. */
const best = (items, value) => items.map((x) => [value(x), x]).reduce((a, b) => (b[0] > a[0] ? b : a), [0])[1];

/* How close a word is to one that was searched: as typed, from the same stem, or around it. */
function closeness(word, stem, typed) {
  if (new Stemmer().stemWord(word) === stem) return typed.has(word) ? 1 : 0.7;
  return word.includes(stem) ? 0.1 : 0;
}

/* A place that has all the words comes before one that has some of them in its title. */
function score(place, stems, typed) {
  let sum = 0;
  for (const stem of stems) {
    const closest = Object.entries(WORTH).map(([kind, worth]) => {
      const found = (place[kind].toLowerCase().match(WORD) ?? []).map((word) => closeness(word, stem, typed));
      sum += found.reduce((total, x) => total + 0.01 * x, worth * Math.max(0, ...found));
      return Math.max(0, ...found);
    });
    sum += 10 * Math.max(...closest);
  }
  return sum;
}

function snippet(text, stems, typed) {
  const near = ([word]) => Math.max(...[...stems].map((stem) => closeness(word.toLowerCase(), stem, typed)));
  const at = best([...text.matchAll(WORD)], near)?.index ?? 0;
  const from = at > AROUND ? text.indexOf(" ", at - AROUND) + 1 : 0;
  const to = at + AROUND < text.length ? text.indexOf(" ", at + AROUND) : -1;
  return tidy(`${from ? "… " : ""}${text.slice(from, to < 0 ? text.length : to)}${to < 0 ? "" : " …"}`);
}

async function searchBySection(query) {
  const [text, stems, excluded, typed, names] = Search._parseQuery(query);
  for (const number of query.match(/\b\d+\b/g) ?? []) for (const words of [stems, typed]) words.add(number);
  const results = Search._performSearch(text, stems, excluded, typed, names).reverse();
  const read = (name) => fetch(`${name}.html`).then((answer) => answer.text()).then(placesOf).catch(() => []);
  const pages = new Map(results.map(([name]) => [name, null]));
  await Promise.all([...pages.keys()].map(async (name) => pages.set(name, await read(name))));
  const shown = new Set();
  for (const [name, title, anchor, description] of results) {
    const places = pages.get(name);
    const place = anchor
      ? places.find((one) => one.covers(anchor.slice(1)))
      : best(places, (one) => score(one, stems, typed));
    const href = `${name}.html${anchor || (place && !place.isPage ? `#${place.id}` : "")}`;
    if (shown.has(href)) continue;
    shown.add(href);
    const item = Search.output.appendChild(document.createElement("li"));
    const link = item.appendChild(document.createElement("a"));
    link.href = href;
    link.innerHTML = place ? title.split(" > ")[0] : title;
    if (description) item.append(document.createRange().createContextualFragment(` (${description})`));
    else if (place && !place.isPage) link.append(` › ${place.title}`);
    const context = item.appendChild(document.createElement("p"));
    context.className = "context";
    context.textContent = place ? snippet(place.prose, stems, typed) : "";
    if (SPHINX_HIGHLIGHT_ENABLED) typed.forEach((word) => _highlightText(item, word, "highlighted"));
  }
  _finishSearch(shown.size);
}

document.addEventListener("DOMContentLoaded", () => (Search.query = searchBySection));

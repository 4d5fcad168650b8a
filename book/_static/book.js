/* For readers with a script engine links show what they lead to, figures enlarge, and the theme's menus
   give way to what was chosen in them. Without it the links are links and the figures are figures. */
"use strict";

const HOVER_DELAY = 150; // ms; shorter and a passing pointer opens previews
const LEAVE_DELAY = 200; // ms; time to move from the link into its preview

/* ---- Previews of theorems, equations, figures, references and library entries ---- */

const fetched = new Map();

/* The document that a link leads to: this one, or another page of the book. */
function pageOf(url) {
  if (url.pathname === location.pathname) return Promise.resolve(document);
  if (!fetched.has(url.pathname)) {
    const parse = (text) => new DOMParser().parseFromString(text, "text/html");
    fetched.set(url.pathname, fetch(url.pathname).then((answer) => answer.text()).then(parse));
  }
  return fetched.get(url.pathname);
}

/* What to show of a target, or null for targets such as whole sections. */
function excerpt(target) {
  if (target === null) return null;
  if (target.matches("dt.sig")) return [target, target.parentElement.querySelector("dd > p")];
  const whole = target.closest("div.proof, div.math, figure, div.citation");
  return whole && [whole];
}

function preview(parts, base) {
  const box = document.createElement("div");
  box.className = "preview";
  box.id = "preview";
  box.setAttribute("role", "tooltip");
  for (const part of parts) box.append(part ? document.importNode(part, true) : "");
  for (const node of box.querySelectorAll("[id]")) node.removeAttribute("id");
  for (const node of box.querySelectorAll(".headerlink, mjx-assistive-mml, script")) node.remove();
  for (const image of box.querySelectorAll("img")) image.src = new URL(image.getAttribute("src"), base);
  return box;
}

/* Below the link if there is room, else above, and within the window. */
function put(box, link) {
  const at = link.getBoundingClientRect();
  const size = box.getBoundingClientRect();
  const left = Math.max(8, Math.min(at.left, document.documentElement.clientWidth - size.width - 8));
  const below = at.bottom + 6;
  const fits = below + size.height < window.innerHeight || at.top < size.height;
  box.style.left = `${left + window.scrollX}px`;
  box.style.top = `${(fits ? below : at.top - size.height - 6) + window.scrollY}px`;
}

let wanted = null; // the link whose preview is shown or awaited

function close() {
  document.getElementById("preview")?.remove();
  wanted?.removeAttribute("aria-describedby");
  wanted = null;
}

async function open(link) {
  close();
  wanted = link;
  const url = new URL(link.href);
  const page = await pageOf(url).catch(() => null); // such as a book read from a folder
  const parts = page && excerpt(page.getElementById(decodeURIComponent(url.hash.slice(1))));
  if (!parts || wanted !== link) return;
  const box = preview(parts, url);
  document.body.append(box);
  if (page !== document) await window.MathJax?.typesetPromise?.([box]);
  if (wanted !== link) return box.remove();
  put(box, link);
  link.setAttribute("aria-describedby", "preview");
  box.addEventListener("pointerenter", () => clearTimeout(timer));
  box.addEventListener("pointerleave", () => later(close, LEAVE_DELAY));
}

let timer = 0;

function later(action, delay) {
  clearTimeout(timer);
  timer = setTimeout(action, delay);
}

function offerPreviews() {
  for (const link of document.querySelectorAll("article a.reference.internal[href*='#']")) {
    link.addEventListener("focus", () => link.matches(":focus-visible") && later(() => open(link), HOVER_DELAY));
    link.addEventListener("blur", () => later(close, LEAVE_DELAY));
    link.addEventListener("pointerenter", (event) => {
      if (event.pointerType === "mouse") later(() => open(link), HOVER_DELAY); // a finger follows the link
    });
    link.addEventListener("pointerleave", () => later(close, LEAVE_DELAY));
  }
  document.addEventListener("keydown", (event) => event.key === "Escape" && close());
}

/* ---- Figures that enlarge ---- */

function enlarge(image) {
  const dialog = document.createElement("dialog");
  dialog.className = "enlarged";
  dialog.setAttribute("aria-label", "Enlarged figure");
  const copy = image.cloneNode();
  copy.removeAttribute("style");
  dialog.append(copy);
  dialog.addEventListener("click", () => dialog.close());
  dialog.addEventListener("keydown", (event) => event.key === "Escape" && dialog.close());
  dialog.addEventListener("close", () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
}

function offerEnlargement() {
  for (const image of document.querySelectorAll("article figure img")) {
    const button = document.createElement("button");
    button.className = "enlarge";
    button.title = "Enlarge this figure";
    image.replaceWith(button);
    button.append(image);
    button.addEventListener("click", () => enlarge(image));
  }
}

/* ---- The theme's menus on narrow screens ---- */

/* A menu would stay in front of the section that was chosen in it, and leave the keyboard nowhere. */
function closeMenus() {
  for (const side of ["primary", "secondary"]) {
    const menu = document.getElementById(`pst-${side}-sidebar-modal`);
    const button = document.querySelector(`.${side}-toggle`);
    menu?.addEventListener("click", (event) => event.target.closest("a") && menu.close());
    menu?.addEventListener("keydown", (event) => {
      if (event.key === "Escape") menu.addEventListener("close", () => button.focus(), { once: true });
    });
  }
}

/* The menu of MathJax offers a renderer that this site does not carry. */
function trimMenu() {
  MathJax.startup.document.menu?.menu?.findID("Settings", "Renderer")?.disable();
}

document.addEventListener("DOMContentLoaded", () => {
  offerPreviews();
  offerEnlargement();
  closeMenus();
  window.addEventListener("load", () => window.MathJax?.startup?.promise?.then(trimMenu));
});

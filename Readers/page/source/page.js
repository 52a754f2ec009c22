// The page: what is opened, what is chosen, and the panes that show it.

import { Context, Decimal, StowError, UUID, check, encode, outline } from "../../javascript/stow.js";
import { base64, hexText, json, keyText, notation, partText, pathText, quotedText } from "./notation.js";
import { Job, Rows, element } from "./rows.js";
import { Tree, placeOfByte } from "./tree.js";
import { Bytes } from "./bytes.js";
import { Records } from "./records.js";
import { search } from "./search.js";
import { Treemap, count, kindOfValue, measure, number } from "./sizes.js";

const $ = (id) => document.getElementById(id);

// # What kinds look like

const CLASSES = {
  key: "key", symbol: "key", string: "string", url: "special", integer: "number-kind", float: "float", decimal: "float", element: "number-kind",
  bool: "word", nil: "word", date: "special", uuid: "special", data: "special", constant: "word", fault: "fault",
};

function classOf(kind) { return CLASSES[kind] ?? "structure"; }

const CONTAINERS = new Set([
  "array", "map", "record", "partial record", "packed array", "table", "matrix", "row", "message", "log", "block", "stream",
]);

// # What is open

const READING = { exact: true, objects: "map" };
/** The contexts that were dropped, which messages may rely on. */
const contexts = [];
/** All parts of the file, what is shown of them at first, which is a list if they are records, and what is shown now. */
let structure = null, main = null, tree = null;
let fileName = "";
let chosen = [];
/** Where the fault is, and what the search found. */
let fault = null;
let found = [], foundAt = -1, foundRows = new Set();

const listing = new Job(), checking = new Job(), measuring = new Job(), searching = new Job();
const treeRows = new Rows($("tree"), drawTreeRow);
const bytesView = new Bytes($("bytes"), classOf, (offset) => chooseByte(offset));
const treemap = new Treemap($("map"), $("paths"), classOf, (place) => goToPart(place));

/** Takes in files: contexts are remembered, and the first of the others, or else the last context, is shown. */
async function openFiles(files) {
  const read = [];
  for (const file of files) {
    try {
      read.push({ name: file.name, bytes: new Uint8Array(await file.arrayBuffer()) });
    } catch {
      // A folder, for example, or a file that is too large.
      return say(`${file.name} cannot be read`, "fault");
    }
  }
  for (const each of read) each.isContext = takesContext(each.bytes);
  const shown = read.find(({ isContext }) => !isContext) ?? read[read.length - 1];
  // A context alone, where a message waits for it, is what that message needs.
  if (shown?.isContext && tree && waitsForContext()) openBytes(structure.root.bytes, fileName);
  else if (shown) openBytes(shown.bytes, shown.name);
}

function takesContext(bytes) {
  if (bytes[0] !== 0x1F || bytes[bytes.length - 1] !== 0) return false;
  try {
    const context = new Context(bytes);
    if (!contexts.some(({ id }) => id === context.id)) contexts.push(context);
    return true;
  } catch {
    return false;
  }
}

function waitsForContext() { return fault !== null && /relies on the context/.test(fault.error.rule); }

async function openBytes(bytes, name) {
  for (const job of [listing, checking, measuring, searching]) job.stop();
  const root = outline(bytes, { ...READING, contexts }), isList = root.kind !== "message";
  const shown = isList ? await listing.run(new Records(root).find(), sayProgress("reading…", bytes)) : root;
  if (!shown) return;
  structure = new Tree(root);
  main = tree = isList ? new Tree(shown) : structure;
  [fileName, fault, found, foundAt, foundRows] = [name, null, [], -1, new Set()];
  $("start").hidden = true;
  $("view").hidden = false;
  $("fault").hidden = true;
  $("query").value = $("found").value = "";
  $("name").textContent = name;
  $("name").title = name;
  document.title = `${name} · Stow`;
  $("tab-tree").textContent = isList ? "Records" : "Tree";
  $("tab-structure").hidden = !isList;
  const { kind, count: parts, nested } = root;
  const id = kind === "message" && bytes[0] === 0x1F ? contexts.find(({ message }) => message.length === bytes.length && message.every((byte, at) => byte === bytes[at]))?.id : undefined;
  const what = id === undefined ? kind : `context ${id.toString(16).toUpperCase().padStart(8, "0")}`;
  $("about").textContent = `${what}, ${count(bytes.length)}`;
  bytesView.show(root);
  const start = kind === "message" && parts > 0 ? [Math.min(nested.main, parts - 1)] : [];
  if (!isList) tree.openBelow(start, 60);
  tree.open(start);
  treeRows.setCount(tree.rows);
  treeRows.moveTo(0);
  choose(start, { isScrolled: false });
  showTab($("panes").dataset.tab === "sizes" ? "sizes" : "tree");
  checkAll(root);
  document.documentElement.dataset.opened = name;
}

/** Looks for the first fault, bit by bit. */
async function checkAll(root) {
  say("checking…", "");
  const result = await checking.run(check(root), sayProgress("checking…", root.bytes));
  if (result === undefined) return;
  if (result === null) return say("✓ valid", "fine");
  fault = result;
  say("✗ broken", "fault");
  const { rule, offset } = result.error;
  $("reason").textContent = `Broken${offset >= 0 ? ` at byte ${number(offset)}` : ""}: ${rule}.${waitsForContext() ? " Drop its context here as well." : ""}`;
  $("fault").hidden = false;
  treeRows.later();
}

function sayProgress(text, bytes) { return (at) => say(`${text} ${Math.floor((100 * at) / bytes.length)} %`, ""); }

function say(text, className) {
  $("status").textContent = text;
  $("status").className = className;
}

// # The tree

function drawTreeRow(row, index) {
  const place = tree.placeAt(index), part = tree.part(place);
  const isOpen = tree.isOpen(place) && place.length > 0, isRecord = place.length === 1 && tree.root instanceof Records;
  const isLeaf = part.isLeaf || place.length === 0;
  const isChosen = isSame(place, chosen);
  const isContainer = CONTAINERS.has(part.kind), isValue = part.step !== null || isMain(place);
  row.id = `row-${index}`;
  row.className = ["row", isChosen && "chosen", !isValue && "structural", isContainer && "container", part.error && "broken",
    foundRows.has(place.join()) && "found"].filter(Boolean).join(" ");
  row.style.setProperty("--level", place.length);
  row.dataset.row = index;
  row.setAttribute("role", "treeitem");
  row.setAttribute("aria-level", place.length + 1);
  row.setAttribute("aria-selected", isChosen);
  if (isLeaf) row.removeAttribute("aria-expanded");
  else row.setAttribute("aria-expanded", isOpen);
  if (place.length > 0) {
    row.setAttribute("aria-posinset", place[place.length - 1] + 1);
    row.setAttribute("aria-setsize", tree.part(place.slice(0, -1)).count);
  }
  const twist = element("span", "twist", isLeaf ? "" : isOpen ? "▼" : "▶");
  twist.setAttribute("aria-hidden", "true");
  if (isScalar(part) && /^(uuid|date|decimal|data|url)$/.test(part.kind)) row.classList.add("plain");
  const cells = [twist];
  if (part.step !== null) cells.push(labelOf(part, isRecord));
  const kind = kindName(part);
  if (kind) cells.push(element("span", "kind", kind));
  cells.push(shortOf(part, isOpen));
  if (part.until > part.first) cells.push(element("span", "amount", number(part.until - part.first)));
  row.replaceChildren(...cells);
}

function isMain(place) { return place.length === 1 && tree.root.kind === "message" && place[0] === tree.root.nested.main; }

function labelOf({ step, kind }, isRecord) {
  if (typeof step === "string") return element("span", "label", keyText(step));
  return element("span", "label index", isRecord || kind === "message" ? `record ${step}` : `[${step}]`);
}

/** The kinds of which the brackets around their content say enough. */
const PLAIN_KINDS = new Set(["map", "record", "partial record", "array", "row"]);

function kindName({ kind, step }) {
  if (kind === "fault") return "broken";
  return PLAIN_KINDS.has(kind) || (kind === "message" && step !== null) ? "" : kind;
}

const LONGEST = 200;

/** The value of a part in short, or what it is. */
function shortOf(part, isOpen) {
  if (part.kind === "fault") return element("span", "short", part.text);
  if (isScalar(part)) return element("span", `short ${classOf(kindOfValue(part))}`, shortValue(part.value));
  if (part.error) return element("span", "short structure", `${bareText(part)}: ${part.error.rule}`);
  const preview = isOpen ? null : previewOf(part);
  return preview ? element("span", "short", preview) : element("span", "short structure", contentOf(part) ?? bareText(part));
}

/** The letters of a preview, and of a string in it. */
const LONGEST_PREVIEW = 120, LONGEST_STRING = 32;

/** The first things in a closed array or object, so that rows differ; null if that takes long to find, or is said otherwise. */
function previewOf(part) {
  const shown = part.kind === "message" && part.step !== null && part.count > 0 ? part.part(part.nested.main) : part;
  if (shown !== part && isScalar(shown)) return shortValue(shown.value);
  if (!isCounted(shown)) return null;
  const items = [];
  let isObject = OBJECTS.has(shown.kind), size = 0;
  for (let index = shown.nested.fronts.length; index < shown.count; index++) {
    const { step, value, kind } = shown.part(index);
    isObject ||= typeof step === "string";
    const text = value === undefined ? (OBJECTS.has(kind) ? "{…}" : "[…]") : shortValue(value, LONGEST_STRING);
    items.push(size > LONGEST_PREVIEW ? "…" : typeof step === "string" ? `${keyText(step)}: ${text}` : text);
    size += items[items.length - 1].length + 2;
    if (items[items.length - 1] === "…") break;
  }
  return isObject ? `{${items.join(", ")}}` : `[${items.join(", ")}]`;
}

const OBJECTS = new Set(["map", "record", "partial record"]);

/** Whether it takes little time to find what is nested in a value. */
function isCounted(part) {
  return part.isValue && part.kind !== "url" && part.until - part.start <= LARGEST_COUNTED && part.nested !== null;
}

/** The text of a part without its kind or number, which stand beside it. */
function bareText({ kind, text }) {
  return text.replace(kind === "message" ? /^(record \d+, |message )/ : new RegExp(`^${kind}( of shape|,? )?(?=.)`), (found) => (found.endsWith("shape") ? "shape" : "")).trim();
}

const NOUNS = { table: "row", matrix: "row", row: "cell", map: "entry", record: "entry", "partial record": "entry" };
/** What is nested in larger parts is not counted for the text of a row. */
const LARGEST_COUNTED = 1 << 20;

/** How many values a part holds; null if that is not said. */
function contentOf(part) {
  if (!isCounted(part)) return null;
  const { nested } = part;
  const noun = NOUNS[part.kind] ?? "element";
  // Of Bools, eight are in a byte.
  const values = nested.elements === 8 ? nested.values * 8 - nested.fronts[0].value : nested.values;
  const type = part.kind === "packed array" ? part.text.slice(part.text.indexOf(",")) : "";
  return `${number(values)} ${values === 1 ? noun : noun === "entry" ? "entries" : `${noun}s`}${type}`;
}

function isScalar(part) { return part.value !== undefined && (part.step !== null || part.kind in CLASSES) && !["presence", "shape"].includes(part.kind); }

function shortValue(value, longest = LONGEST) {
  if (value instanceof Uint8Array) return `${count(value.length)}: ${hexText(value.subarray(0, 24))}${value.length > 24 ? " …" : ""}`;
  if (typeof value === "string" && value.length > longest) return `${quotedText(value.slice(0, longest))}…`;
  const text = notation(value);
  // The kind stands beside it.
  return value instanceof Date || value instanceof UUID || value instanceof Decimal ? text.replace(/^\w+"(.*)"$/, "$1") : text;
}

$("tree").addEventListener("click", ({ target }) => {
  const row = target.closest(".row")?.dataset.row;
  if (row === undefined) return;
  const place = tree.placeAt(Number(row));
  if (target.closest(".twist")) toggle(place);
  choose(place, { isTreeScrolled: false });
});

$("tree").addEventListener("dblclick", ({ target }) => {
  const row = target.closest(".row")?.dataset.row;
  if (row !== undefined && !target.closest(".twist")) toggle(tree.placeAt(Number(row)));
});

$("tree").addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const row = tree.rowOf(chosen), page = Math.max(1, Math.floor(treeRows.seen) - 1);
  const isOpen = tree.isOpen(chosen) && chosen.length > 0;
  const to = (next) => choose(tree.placeAt(Math.max(0, Math.min(tree.rows - 1, next))));
  const actions = {
    ArrowDown: () => to(row + 1), ArrowUp: () => to(row - 1), PageDown: () => to(row + page), PageUp: () => to(row - page),
    Home: () => to(0), End: () => to(tree.rows - 1),
    ArrowRight: () => (isOpen || chosen.length === 0 ? to(row + 1) : toggle(chosen)),
    ArrowLeft: () => (isOpen ? toggle(chosen) : choose(chosen.slice(0, -1))),
    Enter: () => toggle(chosen), " ": () => toggle(chosen),
    "*": () => openAll(chosen),
  };
  if (!actions[event.key]) return;
  event.preventDefault();
  actions[event.key]();
});

function toggle(place) {
  if (place.length === 0 || tree.part(place).isLeaf) return;
  if (tree.isOpen(place)) {
    tree.close(place);
    if (isWithin(chosen, place)) choose(place);
  } else {
    tree.open(place);
  }
  treeRows.setCount(tree.rows);
}

/** Opens what is nested in a part, as far as a thousand more rows go. */
function openAll(place) {
  tree.openBelow(place, tree.rows + 1000);
  treeRows.setCount(tree.rows);
}

function isSame(left, right) { return left.length === right.length && left.every((index, at) => index === right[at]); }

function isWithin(inner, outer) { return inner.length >= outer.length && outer.every((index, at) => index === inner[at]); }

// # What is chosen

/** Shows a part in the tree, its bytes, and what it means. */
function choose(place, { cursor, isScrolled = true, isTreeScrolled = true, isBytesScrolled = true } = {}) {
  chosen = place;
  const row = tree.reveal(place);
  treeRows.setCount(tree.rows);
  if (isScrolled && isTreeScrolled) treeRows.show(row);
  treeRows.render();
  $("tree").setAttribute("aria-activedescendant", `row-${row}`);
  const chain = tree.chain(place), part = chain[chain.length - 1];
  showBytes(chain);
  bytesView.select(part, cursor ?? part.first, isScrolled && isBytesScrolled);
  showPanel(part, cursor);
}

/** Shows the bytes in which a part stands: those of a packed record are not in the file as they are. */
function showBytes(chain) {
  const { bytes } = chain[chain.length - 1];
  const base = chain.findIndex((part) => part.bytes === bytes);
  bytesView.show(base === 0 ? structure.root : chain[base]);
  bytesView.base = base;
  const isOther = base > 0;
  $("other").hidden = !isOther;
  if (isOther) $("other").firstElementChild.textContent = `${partText(chain[base])}: ${count(bytes.length)} that are not in the file as they are.`;
}

function chooseByte(offset) {
  const place = placeOfByte(tree, chosen.slice(0, bytesView.base), offset);
  // A packed record is not at that offset.
  choose(place, tree.part(place).bytes === bytesView.bytes ? { cursor: offset } : {});
}

$("back").addEventListener("click", () => choose(chosen.slice(0, bytesView.base - 1)));

function showPanel(part, cursor) {
  const steps = tree.steps(chosen);
  $("path").textContent = steps.length > 0 ? pathText(steps) : part.kind;
  const isKey = part.before && cursor !== undefined && cursor < part.start;
  const range = part.until > part.first ? `, ${rangeText(part)}` : "";
  const meaning = isKey ? `the key ${part.before.text} of the value after it` : part.error && part.kind !== "fault" ? `${partText(part)}: ${part.error.rule}` : partText(part);
  $("meaning").textContent = `${meaning}${range}`;
  $("meaning").className = part.error ? "fault" : "";
  showValue(part);
}

function rangeText({ first, end, until }) {
  const bytes = until - first === 1 ? `byte ${number(first)}` : `bytes ${number(first)} to ${number(until - 1)}`;
  return end < until && end > first ? `${bytes}; its head is ${count(end - first)} of ${number(until - first)}` : bytes;
}

/** So large a part is not made text before somebody asks for it, and no more of a text is shown. */
const LARGEST_SHOWN = 20000, LONGEST_SHOWN = 5000;

function showValue(part) {
  const isShown = part.until - part.start <= LARGEST_SHOWN && isReadable(part);
  let text = "";
  if (isShown) {
    try {
      text = notation(part.read(), LONGEST_SHOWN);
    } catch (error) {
      if (!(error instanceof StowError)) throw error;
    }
  }
  $("value").textContent = text.length > LONGEST_SHOWN ? `${text.slice(0, LONGEST_SHOWN)}…` : text;
  $("value").hidden = text === "";
  $("panel").classList.toggle("empty", text === "");
  for (const id of ["copy-notation", "copy-json"]) $(id).disabled = !isReadable(part);
  $("copy-path").disabled = tree.steps(chosen).length === 0;
}

function isReadable(part) {
  if (part.error) return false;
  return part.value !== undefined || part.isValue || (part.kind === "message" && part.count > 0);
}

function readChosen() { return tree.part(chosen).read(); }

async function copy(button, make) {
  const label = button.dataset.label ?? button.textContent;
  button.dataset.label = label;
  try {
    const text = make();
    await writeClipboard(text);
    button.textContent = "Copied";
  } catch (error) {
    if (!(error instanceof StowError) && !(error instanceof RangeError)) throw error;
    say(`not copied: ${error.message}`, "fault");
    return;
  }
  setTimeout(() => { button.textContent = label; }, 1200);
}

async function writeClipboard(text) {
  document.documentElement.dataset.copied = text.length < 100000 ? text : "";
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    // Without the permission, or where the page is no secure one: as pages did before.
    const area = element("textarea", "unseen");
    area.value = text;
    document.body.append(area);
    area.select();
    document.execCommand("copy");
    area.remove();
  }
}

$("copy-notation").addEventListener("click", ({ target }) => copy(target, () => notation(readChosen())));
$("copy-json").addEventListener("click", ({ target }) => copy(target, () => json(readChosen())));
$("copy-path").addEventListener("click", ({ target }) => copy(target, () => pathText(tree.steps(chosen))));
$("copy-hex").addEventListener("click", ({ target }) => copy(target, () => {
  const part = tree.part(chosen);
  return hexText(part.bytes.subarray(part.start, part.until));
}));
$("to-fault").addEventListener("click", () => {
  goToPart(fault.indices);
  $("tree").focus();
});

// # Search

async function searchNow() {
  const text = $("query").value, of = tree, places = [];
  [found, foundAt, foundRows] = [places, -1, new Set()];
  $("found").value = text.trim() === "" ? "" : "searching…";
  if (text.trim() === "") {
    searching.stop();
    return treeRows.later();
  }
  const show = () => {
    if (foundAt < 0 && places.length > 0) goTo(0);
    else sayFound("…");
  };
  const isFull = await searching.run(search(of.root, text, places), show);
  if (isFull === undefined || of !== tree) return;
  foundRows = new Set(places.slice(0, 5000).map((place) => place.join()));
  if (foundAt < 0 && places.length > 0) goTo(0);
  sayFound(isFull ? "+" : "");
  treeRows.later();
}

function sayFound(more) {
  $("found").value = found.length === 0 ? (more === "…" ? "searching…" : "nothing") : `${number(foundAt + 1)} of ${number(found.length)}${more}`;
}

function goTo(index) {
  if (found.length === 0) return;
  foundAt = (index + found.length) % found.length;
  choose(found[foundAt]);
  sayFound("");
}

let typed = 0;
$("query").addEventListener("input", () => {
  clearTimeout(typed);
  typed = setTimeout(searchNow, 120);
});
$("search").addEventListener("submit", (event) => {
  event.preventDefault();
  goTo(foundAt + 1);
});
$("query").addEventListener("keydown", (event) => {
  if (event.key === "Enter" && event.shiftKey) {
    event.preventDefault();
    goTo(foundAt - 1);
  } else if (event.key === "Escape") {
    $("query").value = "";
    searchNow();
    $("tree").focus();
  }
});
$("previous").addEventListener("click", () => goTo(foundAt - 1));

// # Views

function showTab(name) {
  $("panes").dataset.tab = name === "structure" ? "tree" : name;
  if (name === "tree") showTree(main);
  if (name === "structure") showTree(structure);
  for (const tab of $("tabs").children) {
    const isChosen = tab.id === `tab-${name}`;
    tab.setAttribute("aria-selected", isChosen);
    tab.tabIndex = isChosen ? 0 : -1;
  }
  if (name === "sizes") measureAll(structure);
  else treemap.of = null;
  treeRows.resized();
  if (tree) treeRows.show(tree.rowOf(chosen));
}

async function measureAll(of) {
  if (treemap.of === of) return;
  treemap.of = of;
  const size = await measuring.run(measure(of.root));
  if (size && of === structure) treemap.show(size, of.root.until);
}

/** Shows all parts or the records, and in them what is chosen. */
function showTree(shown) {
  if (shown === tree) return;
  const inFile = tree.chain(chosen).filter(({ bytes }) => bytes === structure.root.bytes);
  tree = shown;
  treeRows.setCount(tree.rows);
  const { first } = inFile[inFile.length - 1];
  choose(inFile.length > 1 ? placeOfByte(tree, [], first) : []);
  searchNow();
}

/** Shows a part of the file, which need not be in a record. */
function goToPart(place) {
  showTab(structure === main ? "tree" : "structure");
  choose(place);
}

$("tabs").addEventListener("click", ({ target }) => { if (target.id) showTab(target.id.slice(4)); });
$("tabs").addEventListener("keydown", (event) => {
  const tabs = [...$("tabs").children].filter((tab) => tab.offsetParent !== null);
  const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
  if (!step) return;
  const next = tabs[(tabs.indexOf(event.target) + step + tabs.length) % tabs.length];
  showTab(next.id.slice(4));
  next.focus();
});

$("theme").addEventListener("click", () => {
  const { style } = document.documentElement;
  const isDark = style.colorScheme ? style.colorScheme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  style.colorScheme = isDark ? "light" : "dark";
});

document.addEventListener("keydown", (event) => {
  const isTyping = /^(INPUT|TEXTAREA)$/.test(event.target.tagName);
  if (event.key === "/" && !isTyping && tree && !$("view").hidden) {
    event.preventDefault();
    $("query").focus();
    $("query").select();
  }
});

// # What comes in

$("open").addEventListener("click", () => $("files").click());
$("choose").addEventListener("click", () => $("files").click());
$("files").addEventListener("change", async () => {
  await openFiles([...$("files").files]);
  $("files").value = "";
});
$("paste").addEventListener("click", () => {
  // Once more, it leads back to what is open.
  const isBack = tree !== null && $("view").hidden;
  $("view").hidden = !isBack;
  $("start").hidden = isBack;
  if (!isBack) $("pasted").focus();
});
$("text").addEventListener("submit", (event) => {
  event.preventDefault();
  showText($("pasted").value);
});

function showText(text) {
  const bytes = bytesOfText(text);
  $("refused").textContent = bytes ? "" : "This is neither hexadecimal nor Base64.";
  if (!bytes) return;
  takesContext(bytes);
  openBytes(bytes, "pasted bytes");
}

/** The bytes that a text says in hexadecimal or Base64; null if it says none. */
export function bytesOfText(text) {
  const digits = text.replace(/0x|[\s,;:<>]/gi, "");
  if (digits === "") return null;
  if (digits.length % 2 === 0 && !/[^0-9a-f]/i.test(digits)) {
    return Uint8Array.from(digits.match(/../g), (pair) => parseInt(pair, 16));
  }
  return bytesOfBase64(text.replace(/\s/g, ""));
}

function bytesOfBase64(text) {
  try {
    const letters = atob(text.replace(/-/g, "+").replace(/_/g, "/"));
    const bytes = new Uint8Array(letters.length);
    for (let at = 0; at < letters.length; at++) bytes[at] = letters.charCodeAt(at);
    return bytes.length > 0 ? bytes : null;
  } catch {
    return null;
  }
}

document.addEventListener("paste", (event) => {
  if (/^(INPUT|TEXTAREA)$/.test(event.target.tagName)) return;
  if (event.clipboardData.files.length > 0) openFiles([...event.clipboardData.files]);
  else showText(event.clipboardData.getData("text/plain"));
});

let dragged = 0;
document.addEventListener("dragenter", (event) => {
  event.preventDefault();
  dragged++;
  $("veil").hidden = false;
});
document.addEventListener("dragleave", () => {
  dragged--;
  if (dragged <= 0) $("veil").hidden = true;
});
document.addEventListener("dragover", (event) => event.preventDefault());
document.addEventListener("drop", (event) => {
  event.preventDefault();
  dragged = 0;
  $("veil").hidden = true;
  const { files } = event.dataTransfer;
  if (files.length > 0) openFiles([...files]);
  else showText(event.dataTransfer.getData("text/plain"));
});

$("example").addEventListener("click", () => openBytes(example(), "example.stow"));

/** A message with something of all that there is. */
function example() {
  const hours = Array.from({ length: 24 }, (_, hour) => ({
    hour, level: 4.25 + Math.round(Math.sin(hour / 4) * 40) / 100, flow: 1200 + hour * 3, isEstimate: hour % 6 === 5,
  }));
  return encode({
    id: new UUID("6F9619FF-8B86-D011-B42D-00CF4FC964FF"), name: "Elbe at Dresden", opened: new Date(Date.UTC(1935, 3, 1)),
    price: new Decimal(1250n, -2), seal: Uint8Array.of(0x53, 0x74, 0x6F, 0x77, 1, 2, 3), remark: null,
    place: { latitude: 51.0544, longitude: 13.7384, height: 102.7 },
    people: [
      { name: "Ada", role: "keeper", since: 2019, phones: ["+49 351 1", "+49 351 2"] },
      { name: "Grace", role: "keeper", since: 2021, phones: [] },
      { name: "Łukasz", role: "engineer", since: 2022, phones: ["+48 22 3"] },
    ],
    hours, levels: hours.map(({ level }) => level), alarms: [true, false, false, true, true, false, false, false, true],
    readings: [1_700_000_000, 1_700_003_600, 1_700_007_200, 1_700_010_801, 1_700_014_400], big: 2n ** 70n,
  });
}

/** The file that was put into the page by `stowtool view`. */
const inside = $("inside");
if (inside) {
  for (const data of document.querySelectorAll("script[data-context]")) takesContext(bytesOfBase64(data.textContent) ?? new Uint8Array(0));
  openBytes(bytesOfBase64(inside.textContent.trim()) ?? new Uint8Array(0), inside.dataset.name);
  inside.textContent = "";
}

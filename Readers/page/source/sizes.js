// Where the bytes go: a tree of paths, in which all elements of a list are one, and its drawing as rectangles.

import { NestedNil, UUID, each } from "../../javascript/stow.js";
import { element } from "./rows.js";
import { pathText } from "./notation.js";

class Size {
  constructor(step) {
    this.step = step;
    this.own = 0;
    this.total = 0;
    this.count = 0;
    this.kinds = new Map();
    this.below = new Map();
    /** The first place of this path. */
    this.place = null;
  }

  add(size, kind) {
    this.own += size;
    this.kinds.set(kind, (this.kinds.get(kind) ?? 0) + size);
  }

  child(step, place) {
    const key = typeof step === "number" ? each : step;
    let child = this.below.get(key);
    if (!child) {
      child = new Size(key);
      child.place = place();
      this.below.set(key, child);
    }
    child.count++;
    return child;
  }

  /** Sums up what is below. Without recursion, as messages nest deep. */
  sum() {
    const all = [this];
    for (const size of all) for (const below of size.below.values()) all.push(below);
    for (const size of all.reverse()) {
      size.total = size.own;
      for (const below of size.below.values()) size.total += below.total;
    }
  }

  get kind() { return [...this.kinds].reduce((most, each) => (each[1] > most[1] ? each : most), ["array", -1])[0]; }
}

/** Measures a part and all in it. Yields how far it is. */
export function* measure(root) {
  const top = new Size(null);
  top.place = [];
  yield* add(root, top, []);
  top.sum();
  return top;
}

function* add(part, size, place) {
  size.add(part.end - part.start, part.kind);
  const { fronts, values, elements } = part.nested ?? { fronts: [], values: 0 };
  const isCells = part.kind === "packed array" && values > 0 && elements === 1;
  for (let index = 0; index < part.count; index++) {
    if (index % 512 === 511) yield part.start;
    const inside = () => [...place, index];
    if (isCells && index === fronts.length) {
      // All elements of a packed array are alike: their bytes are what is left of it.
      const first = size.child(0, inside);
      const start = part.nested.startOf(index);
      const end = part.nested.rest ? part.nested.rest.start : part.until;
      first.count += values - 1;
      first.add(end - start, kindOfValue(part.part(index)));
      index += values - 1;
      continue;
    }
    const nested = part.part(index);
    if (nested.bytes !== part.bytes) continue;
    const isRecord = nested.kind === "message" || nested.step === null;
    const into = isRecord ? size : size.child(nested.step, inside);
    if (nested.before) into.add(nested.before.end - nested.before.start, "key");
    if (nested.isLeaf) into.add(nested.end - nested.start, kindOfValue(nested));
    else yield* add(nested, into, inside());
  }
}

/** The kind of a part; that of an element or a constant is the kind of its value. */
export function kindOfValue({ kind, value, step }) {
  if (step === null || (kind !== "element" && kind !== "constant")) return kind;
  if (typeof value === "boolean" || Array.isArray(value)) return "bool";
  if (typeof value === "string") return "string";
  if (typeof value === "bigint" || Number.isSafeInteger(value)) return "integer";
  if (value === null || value instanceof NestedNil) return "nil";
  return value instanceof Date ? "date" : value instanceof UUID ? "uuid" : "float";
}

/** Rectangles that fill another, with areas in proportion to sizes, the largest first, and as near to squares as may be. */
export function rectangles(sizes, area) {
  const total = sizes.reduce((sum, size) => sum + size, 0);
  if (!(total > 0 && area.width > 0 && area.height > 0)) return [];
  const scale = (area.width * area.height) / total;
  const result = [];
  let rest = { ...area };
  let row = [];
  const worst = (list, side) => {
    const sum = list.reduce((all, each) => all + each, 0);
    return Math.max(...list.map((each) => Math.max((side * side * each) / (sum * sum), (sum * sum) / (side * side * each))));
  };
  const lay = () => {
    const sum = row.reduce((all, each) => all + each, 0);
    const isWide = rest.width >= rest.height;
    const thickness = sum / (isWide ? rest.height : rest.width);
    let along = 0;
    for (const each of row) {
      const length = each / thickness;
      result.push(isWide
        ? { x: rest.x, y: rest.y + along, width: thickness, height: length }
        : { x: rest.x + along, y: rest.y, width: length, height: thickness });
      along += length;
    }
    rest = isWide
      ? { x: rest.x + thickness, y: rest.y, width: rest.width - thickness, height: rest.height }
      : { x: rest.x, y: rest.y + thickness, width: rest.width, height: rest.height - thickness };
    row = [];
  };
  for (const size of sizes) {
    const each = size * scale;
    const side = Math.min(rest.width, rest.height);
    if (row.length > 0 && worst([...row, each], side) > worst(row, side)) lay();
    row.push(each);
  }
  if (row.length > 0) lay();
  return result;
}

const MARGIN = 3, TITLE = 18;
const MOST_TILES = 3000;

/** Draws a tree of sizes. */
export class Treemap {
  constructor(area, table, kindClass, choose) {
    Object.assign(this, { area, table, kindClass, choose });
    this.size = null;
    this.whole = 0;
    new ResizeObserver(() => this.draw()).observe(area);
  }

  show(size, whole) {
    [this.size, this.whole] = [size, whole];
    this.draw();
    this.list();
  }

  draw() {
    this.area.replaceChildren();
    const { clientWidth: width, clientHeight: height } = this.area;
    if (!this.size || width < 10) return;
    this.tiles = 0;
    this.nest([this.part(this.size, [])], { x: 0, y: 0, width, height }, this.area);
  }

  part(size, steps) { return { size, steps, total: size.total, kind: size.kind, isOwn: false }; }

  percent(total) { return `${((100 * total) / Math.max(1, this.whole)).toFixed(1)} %`; }

  nest(parts, area, into) {
    const shown = parts.filter(({ total }) => total > 0).sort((left, right) => right.total - left.total);
    const places = rectangles(shown.map(({ total }) => total), area);
    shown.forEach((part, index) => {
      const place = places[index];
      if (!place || place.width < 3 || place.height < 3 || this.tiles > MOST_TILES) return;
      this.tile(part, place, into);
    });
  }

  tile(part, { x, y, width, height }, into) {
    this.tiles++;
    const { size, steps, total, kind, isOwn } = part;
    const name = isOwn ? `(${kind})` : pathText(steps.slice(-1)) || "(all)";
    const isFrame = !isOwn && size.below.size > 0 && width > 28 && height > 34;
    const tile = element("div", isFrame ? "tile frame" : `tile ${this.kindClass(kind)}`);
    tile.title = `${pathText(steps)}${isOwn ? ` ${name}` : ""}: ${count(total)}, ${this.percent(total)}${size.count > 1 && !isOwn ? `, ${number(size.count)} values` : ""}`;
    Object.assign(tile.style, { left: `${x}px`, top: `${y}px`, width: `${width}px`, height: `${height}px` });
    tile.addEventListener("click", (event) => {
      event.stopPropagation();
      this.choose(size.place);
    });
    if (width > 34 && height > 15) {
      const title = element("span", "title", name);
      title.append(" ", element("small", "", number(total)));
      tile.append(title);
    }
    into.append(tile);
    if (!isFrame) return;
    const inside = { x: MARGIN, y: TITLE, width: width - 2 * MARGIN - 2, height: height - TITLE - MARGIN - 2 };
    const own = { size, steps, total: size.own, kind, isOwn: true };
    this.nest([own, ...[...size.below.values()].map((below) => this.part(below, [...steps, below.step]))], inside, tile);
  }

  /** The largest paths as a table. */
  list() {
    const lines = [];
    const queue = [this.part(this.size, [])];
    for (const part of queue) {
      lines.push(part);
      for (const below of part.size.below.values()) {
        if (below.total * 1000 >= this.whole && queue.length < 5000) queue.push(this.part(below, [...part.steps, below.step]));
      }
    }
    lines.sort((left, right) => right.total - left.total);
    this.table.replaceChildren(...lines.slice(0, 200).map((part) => {
      const row = element("tr");
      const button = element("button", "link", pathText(part.steps) || "(all)");
      button.addEventListener("click", () => this.choose(part.size.place));
      const path = element("td");
      path.append(button);
      row.append(path, element("td", "number", number(part.total)), element("td", "number", this.percent(part.total)),
        element("td", "number", part.steps.length === 0 ? "" : number(part.size.count)));
      return row;
    }));
  }
}

/** A count as `stowtool` writes it. */
export function number(value) { return String(value).replace(/\B(?=(\d{3})+$)/g, ","); }

export function count(bytes) { return `${number(bytes)} byte${bytes === 1 ? "" : "s"}`; }

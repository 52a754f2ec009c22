// The bytes in hexadecimal, each in the colour of its kind.

import { partText } from "./notation.js";
import { Rows, element } from "./rows.js";
import { number } from "./sizes.js";

export class Bytes {
  /** @param {(offset: number) => void} choose is called with a byte that somebody chose */
  constructor(scroller, kindClass, choose) {
    Object.assign(this, { scroller, kindClass, choose });
    this.rows = new Rows(scroller, (row, index) => this.draw(row, index));
    this.bytes = new Uint8Array(0);
    this.root = null;
    this.cursor = -1;
    this.range = null;
    this.width = 16;
    new ResizeObserver(() => this.measure()).observe(scroller);
    scroller.addEventListener("click", ({ target }) => {
      const at = target.closest("[data-at]")?.dataset.at;
      if (at !== undefined) this.choose(Number(at));
    });
    scroller.addEventListener("keydown", (event) => this.key(event));
  }

  /** Shows the bytes of a part; those of others are not there. */
  show(root) {
    if (this.root === root) return;
    [this.root, this.bytes, this.cursor, this.range] = [root, root.bytes, -1, null];
    this.digits = Math.max(4, number(this.bytes.length - 1).length);
    this.measure();
    this.rows.moveTo(0);
  }

  /** As many bytes on a row as have room. */
  measure() {
    const letter = this.letterWidth();
    const room = this.scroller.clientWidth / letter - (this.digits ?? 4) - 5;
    const width = [32, 16, 8, 4].find((each) => each * 4 + Math.floor((each - 1) / 8) <= room) ?? 4;
    const top = this.rows.top * this.width;
    this.width = width;
    this.rows.setCount(Math.ceil(this.bytes.length / width));
    if (this.cursor >= 0) this.rows.show(Math.floor(this.cursor / width));
    else this.rows.moveTo(top / width);
  }

  letterWidth() {
    const probe = element("span", "probe", "0".repeat(50));
    this.scroller.append(probe);
    const width = probe.getBoundingClientRect().width / 50;
    probe.remove();
    return width || 8;
  }

  /** Marks the bytes of a part, and those of all that is nested in it. */
  select(part, cursor, isScrolled) {
    // What is nearly everything needs no mark, which would only hide others.
    const isMost = part.until - part.first > this.bytes.length * 0.8;
    this.range = { first: part.first, end: part.end, until: isMost ? part.end : part.until };
    this.cursor = Math.min(cursor, this.bytes.length - 1);
    if (isScrolled && this.cursor >= 0) this.rows.show(Math.floor(this.cursor / this.width));
    this.rows.later();
  }

  /** What each of some bytes is: the innermost part that has it. */
  kinds(from, to) {
    const found = new Array(to - from).fill(null);
    const paint = (part, start, end) => {
      for (let at = Math.max(start, from); at < Math.min(end, to); at++) found[at - from] = part;
    };
    const visit = (part) => {
      if (part.before) paint(part.before, part.before.start, part.before.end);
      paint(part, part.start, part.end);
      if (part.until <= part.end || part.count === 0) return;
      for (let index = Math.max(0, part.indexAt(Math.max(from, part.end))); index < part.count; index++) {
        if (part.nested.startOf(index) >= to) return;
        const nested = part.part(index);
        if (nested.bytes !== part.bytes) return;
        visit(nested);
      }
    };
    visit(this.root);
    return found;
  }

  draw(row, index) {
    const from = index * this.width, to = Math.min(from + this.width, this.bytes.length);
    const parts = this.kinds(from, to);
    const hex = element("span", "hex"), ascii = element("span", "ascii");
    ascii.setAttribute("aria-hidden", "true");
    for (let at = from; at < to; at++) {
      const byte = this.bytes[at], part = parts[at - from];
      const mark = `${this.kindClass(part?.kind)}${this.mark(at)}`;
      const digits = element("span", `byte ${mark}${at % 8 === 0 && at > from ? " eighth" : ""}`, byte.toString(16).toUpperCase().padStart(2, "0"));
      digits.dataset.at = at;
      if (part) digits.title = partText(part);
      const letter = element("span", mark, byte > 0x20 && byte < 0x7F ? String.fromCharCode(byte) : byte === 0x20 ? "\u00A0" : "·");
      letter.dataset.at = at;
      hex.append(digits);
      ascii.append(letter);
    }
    // A row that is not full is as wide as the others.
    for (let at = to; at < from + this.width; at++) hex.append(element("span", `byte${at % 8 === 0 ? " eighth" : ""}`, "\u00A0\u00A0"));
    const offset = element("span", "offset", number(from).padStart(this.digits, "\u00A0"));
    row.replaceChildren(offset, hex, ascii);
  }

  mark(at) {
    const { range } = this;
    const cursor = at === this.cursor ? " cursor" : "";
    if (!range || at < range.first || at >= range.until) return cursor;
    return `${cursor} ${at < range.end ? "chosen" : "within"}`;
  }

  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || this.bytes.length === 0) return;
    const page = this.width * Math.max(1, Math.floor(this.rows.seen) - 1);
    const steps = {
      ArrowRight: 1, ArrowLeft: -1, ArrowDown: this.width, ArrowUp: -this.width, PageDown: page, PageUp: -page,
      Home: -Infinity, End: Infinity,
    };
    const step = steps[event.key];
    if (step === undefined) return;
    event.preventDefault();
    const next = this.cursor < 0 ? 0 : this.cursor + step;
    this.choose(Math.max(0, Math.min(this.bytes.length - 1, next)));
  }
}

// A list of any number of rows, of which only those that are seen are in the document.

/** Browsers show no elements that are much higher. Where all rows together would be, the bar stands for a share of them. */
const HIGHEST = 8_000_000;

export class Rows {
  /**
   * @param {HTMLElement} element what scrolls
   * @param {(row: HTMLElement, index: number) => void} draw fills a row, which may have shown another one
   */
  constructor(element, draw) {
    this.element = element;
    this.draw = draw;
    this.count = 0;
    /** The first row that is seen, with a fraction. */
    this.top = 0;
    this.layer = document.createElement("div");
    this.layer.className = "layer";
    this.layer.setAttribute("role", "presentation");
    this.space = document.createElement("div");
    this.space.setAttribute("role", "presentation");
    element.append(this.layer, this.space);
    this.pool = [];
    this.lastScroll = 0;
    this.frame = 0;
    this.settling = 0;
    element.addEventListener("scroll", () => this.scrolled(), { passive: true });
    new ResizeObserver(() => this.resized()).observe(element);
  }

  get rowHeight() { return parseFloat(getComputedStyle(this.element).getPropertyValue("--row")) || 24; }
  get seen() { return this.element.clientHeight / this.height; }
  get last() { return Math.max(0, this.count - this.seen); }
  get isScaled() { return this.count * this.height > HIGHEST; }

  setCount(count) {
    this.count = count;
    this.resized();
  }

  resized() {
    this.height = this.rowHeight;
    const inner = this.element.clientHeight;
    this.layer.style.height = `${inner}px`;
    this.space.style.height = `${Math.max(0, Math.min(this.count * this.height, HIGHEST) - inner)}px`;
    this.moveTo(this.top);
  }

  get scrollRange() { return this.element.scrollHeight - this.element.clientHeight; }

  /** Shows the rows from one on. */
  moveTo(top) {
    this.top = Math.max(0, Math.min(top, this.last));
    this.place();
    this.later();
  }

  /** Puts the bar where the rows are that are seen. */
  place() {
    const wanted = this.isScaled ? (this.top / this.last) * this.scrollRange : this.top * this.height;
    if (Math.abs(this.element.scrollTop - wanted) > 0.5) this.element.scrollTop = wanted;
    this.lastScroll = this.element.scrollTop;
  }

  scrolled() {
    const { scrollTop, clientHeight } = this.element;
    const step = scrollTop - this.lastScroll;
    if (step === 0) return;
    this.lastScroll = scrollTop;
    const range = this.scrollRange;
    const isSmall = Math.abs(step) <= clientHeight * 1.5 && scrollTop > 0 && scrollTop < range - 1;
    if (!this.isScaled) this.top = scrollTop / this.height;
    else if (isSmall) this.top += step / this.height;
    else this.top = (scrollTop / range) * this.last;
    this.top = Math.max(0, Math.min(this.top, this.last));
    if (this.isScaled) {
      clearTimeout(this.settling);
      this.settling = setTimeout(() => this.place(), 300);
    }
    this.later();
  }

  /** Scrolls as far as is needed that a row is seen. */
  show(index) {
    const room = Math.max(1, Math.floor(this.seen));
    if (index >= this.top && index + 1 <= this.top + room) return this.later();
    const isNear = index >= this.top - 2 && index <= this.top + room + 2;
    const top = !isNear ? index - room / 3 : index < this.top ? index : index + 1 - this.seen;
    this.moveTo(top);
  }

  later() {
    if (this.frame === 0) this.frame = requestAnimationFrame(() => this.render());
  }

  render() {
    cancelAnimationFrame(this.frame);
    this.frame = 0;
    const first = Math.floor(this.top);
    const count = Math.min(this.count - first, Math.ceil(this.seen) + 1);
    while (this.pool.length < count) {
      const row = document.createElement("div");
      row.className = "row";
      this.pool.push(row);
      this.layer.append(row);
    }
    const shift = -(this.top - first) * this.height;
    this.pool.forEach((row, slot) => {
      row.hidden = slot >= count;
      if (row.hidden) return row.removeAttribute("id");
      row.style.transform = `translateY(${shift + slot * this.height}px)`;
      this.draw(row, first + slot);
    });
  }
}

/** A new element with a class and a text. */
export function element(name, className, text) {
  const made = document.createElement(name);
  if (className) made.className = className;
  if (text !== undefined) made.textContent = text;
  return made;
}

/** Calls steps of a generator for a few milliseconds at a time, until it is done or another job takes its place. */
export class Job {
  #number = 0;

  stop() { this.#number++; }

  /** @returns what the generator returns; undefined if the job was stopped */
  async run(steps, progress = () => {}) {
    const number = ++this.#number;
    for (;;) {
      const until = performance.now() + 12;
      let last;
      do {
        const { done, value } = steps.next();
        if (done) return value;
        last = value;
      } while (performance.now() < until);
      progress(last);
      await new Promise((resume) => { setTimeout(resume); });
      if (number !== this.#number) return undefined;
    }
  }
}

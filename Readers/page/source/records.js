// The records of a log or a stream as one list, without the blocks and frames around them.

import { Part } from "../../javascript/stow.js";
import { number } from "./sizes.js";

export class Records {
  /** @param {Part} root the part that is all of the log or the stream */
  constructor(root) {
    this.root = root;
    const { kind, bytes, start, first, end, until } = root;
    Object.assign(this, { kind, bytes, start, first, end, until, step: null, before: null, error: null, isLeaf: false, isValue: false });
    /** The parts of the records and of what is damaged; of each, the part around it, its index there, and its bytes. */
    this.around = [];
    this.index = [];
    this.starts = [];
    this.untils = [];
  }

  get count() { return this.index.length; }
  get text() { return `${this.kind} of ${number(this.count)} record${this.count === 1 ? "" : "s"}`; }

  /** Finds the records. Yields how far it is. */
  *find(part = this.root) {
    for (let index = 0; index < part.count; index++) {
      const nested = part.part(index);
      if (index % 256 === 255) yield nested.until;
      if (nested.kind === "message" || nested.error) {
        // A record that was put together of several blocks is not in the file as it is: it counts as its first part.
        const place = nested.bytes === this.bytes ? nested : part;
        this.around.push(part);
        this.index.push(index);
        this.starts.push(place.start);
        this.untils.push(place.until);
      } else if (!nested.isLeaf) {
        yield* this.find(nested);
      }
    }
    return this;
  }

  /** The value of a record, with its number as the step that leads to it. */
  part(at) {
    const record = this.around[at].part(this.index[at]);
    let value = record;
    while (value.kind === "message" && value.count > 0) value = value.part(value.nested.main);
    const part = Object.assign(new Part(), value, { step: record.step });
    if (record.error) part.error = record.error;
    return value.isLeaf ? part : part.opens(() => value.nested);
  }

  /** The index of the record that has the byte at an offset; −1 if none has it. */
  indexAt(offset) {
    let low = 0, high = this.count;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.starts[middle] <= offset) low = middle + 1;
      else high = middle;
    }
    return low > 0 && offset < this.untils[low - 1] ? low - 1 : -1;
  }

  indexOf(step) { return this.index.findIndex((index, at) => this.around[at].part(index).step === step); }

  get nested() { return { fronts: [], values: this.count, main: 0, elements: 1, startOf: (index) => this.starts[index] }; }
}

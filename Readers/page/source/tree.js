// Which rows a tree has when some of its parts are open. A place is the indices that lead to a part from the root.

/** A part that is open. */
class Branch {
  constructor(part) {
    this.part = part;
    this.count = part.count;
    /** The open ones among the parts nested here, by their index, in its order. */
    this.open = [];
    /** How many rows are below its own. */
    this.rows = this.count;
    this.known = new Map();
  }

  nested(index) {
    let part = this.known.get(index);
    if (!part) {
      if (this.known.size > 4096) this.known.clear();
      part = this.part.part(index);
      this.known.set(index, part);
    }
    return part;
  }

  branchAt(index) { return this.open.find((each) => each.index === index)?.branch ?? null; }
}

export class Tree {
  constructor(root) {
    this.root = root;
    this.top = new Branch(root);
  }

  get rows() { return this.top.rows + 1; }

  /** The part at a place. */
  part(place) {
    let part = this.root, branch = this.top;
    for (const index of place) {
      part = branch ? branch.nested(index) : part.part(index);
      branch = branch?.branchAt(index) ?? null;
    }
    return part;
  }

  /** All parts on the way to a place, the root first. */
  chain(place) { return [this.root, ...place.map((_, index) => this.part(place.slice(0, index + 1)))]; }

  branches(place) {
    const found = [this.top];
    for (const index of place) {
      const next = found[found.length - 1].branchAt(index);
      if (!next) break;
      found.push(next);
    }
    return found;
  }

  isOpen(place) { return this.branches(place).length === place.length + 1; }

  /** Opens a part, and all that is around it. */
  open(place) {
    for (let level = 0; level < place.length; level++) this.openOne(place.slice(0, level + 1));
  }

  openOne(place) {
    if (this.isOpen(place)) return;
    const index = place[place.length - 1];
    const around = this.branches(place);
    const parent = around[around.length - 1];
    const branch = new Branch(parent.nested(index));
    if (branch.count === 0) return;
    const before = parent.open.findIndex((each) => each.index > index);
    parent.open.splice(before < 0 ? parent.open.length : before, 0, { index, branch });
    for (const each of around) each.rows += branch.rows;
  }

  close(place) {
    if (place.length === 0 || !this.isOpen(place)) return;
    const around = this.branches(place);
    const branch = around.pop();
    const parent = around[around.length - 1];
    parent.open = parent.open.filter((each) => each.branch !== branch);
    for (const each of around) each.rows -= branch.rows;
  }

  /** The place that a row shows. */
  placeAt(row) {
    const place = [];
    let branch = this.top;
    row--;
    while (row >= 0) {
      let index = row, next = null;
      for (const each of branch.open) {
        if (index <= each.index) break;
        if (index <= each.index + each.branch.rows) {
          next = each;
          break;
        }
        index -= each.branch.rows;
      }
      if (!next) return [...place, index];
      place.push(next.index);
      row = index - next.index - 1;
      branch = next.branch;
    }
    return place;
  }

  /** The row of a place; all around it must be open. */
  rowOf(place) {
    let row = 0, branch = this.top;
    for (const index of place) {
      row += 1 + index;
      let found = null;
      for (const each of branch.open) {
        if (each.index < index) row += each.branch.rows;
        else if (each.index === index) found = each.branch;
      }
      branch = found;
      if (!branch) break;
    }
    return row;
  }

  /** Shows a place: what is around it is opened. Returns its row. */
  reveal(place) {
    this.open(place.slice(0, -1));
    return this.rowOf(place);
  }

  /** Opens what is below a place, level by level, as long as there are not more rows than this. */
  openBelow(place, most) {
    const queue = [place];
    for (let next = queue.shift(); next; next = queue.shift()) {
      const part = this.part(next);
      if (part.isLeaf || this.rows + part.count > most) continue;
      this.open(next);
      for (let index = 0; index < part.count; index++) queue.push([...next, index]);
    }
  }

  /** The steps of a path to a place: a record of a log or a stream is the first. */
  steps(place) { return this.chain(place).map((part) => part.step).filter((step) => step !== null); }
}

/** The place of the innermost part below another that has the byte at an offset. */
export function placeOfByte(tree, base, offset) {
  const place = [...base];
  let part = tree.part(base);
  for (;;) {
    const index = part.indexAt(offset);
    if (index < 0) return place;
    const nested = part.part(index);
    place.push(index);
    // A packed record has bytes of its own.
    if (nested.bytes !== part.bytes) return place;
    part = nested;
  }
}

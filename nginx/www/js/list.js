// A list that only grows at its end, keeps its newest entries, and follows them unless the reader scrolled away.

/* The reader counts as being at the end within this many pixels. */
const NEAR = 40;

export class GrowingList {
  #waiting = [];
  #timer = null;

  /** `box` scrolls, `list` (may be the same) holds the entries. */
  constructor(box, list, max) {
    this.box = box;
    this.list = list;
    this.max = max;
    this.follow = true;
    this.dropped = 0;
  }

  /** Appends at once: for entries that come one by one. */
  add(node) {
    const stay = this.follow && this.#atEnd();
    this.list.append(node);
    this.#trim();
    if (stay)
      this.toEnd();
  }

  /** Appends soon, many together: an agent can write thousands of lines a second. `make` is called only for those that are shown. */
  addSoon(make) {
    this.#waiting.push(make);
    if (this.#waiting.length > this.max) {
      this.#waiting.shift();
      this.dropped++;
    }
    this.#timer ??= setTimeout(() => this.flush(), 50);
  }

  flush() {
    clearTimeout(this.#timer);
    this.#timer = null;
    const stay = this.follow;
    this.list.append(...this.#waiting.map((make) => make()));
    this.#waiting = [];
    this.#trim();
    if (stay)
      this.toEnd();
  }

  clear() {
    clearTimeout(this.#timer);
    this.#timer = null;
    this.#waiting = [];
    this.dropped = 0;
    this.list.replaceChildren();
  }

  toEnd() {
    this.box.scrollTop = this.box.scrollHeight;
  }

  #atEnd() {
    return this.box.scrollHeight - this.box.scrollTop - this.box.clientHeight < NEAR || this.list.childElementCount === 0;
  }

  #trim() {
    while (this.list.childElementCount > this.max) {
      this.list.firstElementChild.remove();
      this.dropped++;
    }
  }
}

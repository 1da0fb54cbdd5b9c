// A list that only grows at its end, keeps its newest entries, and follows them unless the reader scrolled away.

/* The reader counts as being at the end within this many pixels. */
const NEAR = 40;
const DELAY_MS = 50;

export class GrowingList {
  #waiting = [];
  #timer = null;

  /** `box` scrolls, `list` (may be the same) holds the entries. */
  constructor(box, list, max) {
    this.box = box;
    this.list = list;
    this.max = max;
    this.follow = true;
  }

  /**
   * Appends soon, many together: an agent can write thousands of lines a second. `make` gives the entry, or null; it
   * is called in order, and not at all for entries that would be dropped at once.
   */
  add(make) {
    this.#waiting.push(make);
    if (this.#waiting.length > this.max)
      this.#waiting.shift();
    this.#timer ??= setTimeout(() => this.flush(), DELAY_MS);
  }

  flush() {
    clearTimeout(this.#timer);
    this.#timer = null;
    const stay = this.follow && this.#atEnd();
    const makers = this.#waiting;
    this.#waiting = [];
    for (const make of makers) {
      const node = make();
      if (node)
        this.list.append(node);
    }
    while (this.list.childElementCount > this.max)
      this.list.firstElementChild.remove();
    if (stay)
      this.toEnd();
  }

  clear() {
    clearTimeout(this.#timer);
    this.#timer = null;
    this.#waiting = [];
    this.list.replaceChildren();
  }

  toEnd() {
    this.box.scrollTop = this.box.scrollHeight;
  }

  /** The list became visible: what came meanwhile did not scroll. */
  shown() {
    if (this.follow)
      this.toEnd();
  }

  #atEnd() {
    return this.box.scrollHeight - this.box.scrollTop - this.box.clientHeight < NEAR;
  }
}

// Replays rows in real time.

/** The maximum pause, in milliseconds. Longer ones are shortened. */
const PAUSE = 1000;
const SLOWEST = 0.25;
const FASTEST = 1024;

export class Replay {
  /** The playback speeds. */
  speed = 1;
  #timer = null;
  #due = 0;
  #gap;
  #advance;

  /**
   * `gap` returns the time in milliseconds between a row at an offset from here and the next, or null. `advance` moves
   * by a number of rows, and returns whether there are more.
   */
  constructor(gap, advance) {
    this.#gap = gap;
    this.#advance = advance;
  }

  get isGoing() {
    return this.#timer !== null;
  }

  start() {
    this.#due = performance.now() + this.#wait(this.#gap(0));
    this.#sleep();
  }

  stop() {
    clearTimeout(this.#timer);
    this.#timer = null;
  }

  change(isSlower) {
    this.speed = Math.min(FASTEST, Math.max(SLOWEST, this.speed * (isSlower ? 0.5 : 2)));
  }

  #wait(gap) {
    return Math.min(PAUSE, Math.max(0, gap ?? 0) / this.speed);
  }

  #sleep() {
    this.#timer = setTimeout(() => this.#go(), Math.max(5, this.#due - performance.now()));
  }

  async #go() {
    const timer = this.#timer;
    let steps = 0;
    while (this.#due <= performance.now()) {
      steps += 1;
      const gap = this.#gap(steps);
      if (gap === null) break;
      this.#due += this.#wait(gap);
    }
    const hasMore = steps === 0 || (await this.#advance(steps));
    if (this.#timer !== timer) return;
    if (!hasMore) return this.stop();
    // Time spent loading rows is not caught up.
    this.#due = Math.max(this.#due, performance.now());
    this.#sleep();
  }
}

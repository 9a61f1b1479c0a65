// Time, as it goes again.

/** How long nothing happens at most, in milliseconds. What took longer is shortened to it. */
const PAUSE = 1000;
const SLOWEST = 0.25;
const FASTEST = 1024;

export class Replay {
  /** How fast, as a factor of the time that it took. */
  speed = 1;
  #timer = null;
  #due = 0;
  #gap;
  #advance;

  /**
   * `gap` gives, for a number of rows from here, how many milliseconds after that row the next one came, or null.
   * `advance` goes on by so many rows, and tells whether there are more.
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
    // Rows that had to be asked for are not made up for.
    this.#due = Math.max(this.#due, performance.now());
    this.#sleep();
  }
}

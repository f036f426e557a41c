/**
 * Finds many patterns at once in a stream of bytes: the automaton of Aho and Corasick. A state is the longest end of what
 * was read that begins a pattern. States are numbers, and their fields arrays: values may be megabytes in all.
 */
export class Patterns {
  private readonly byte: Uint8Array
  private readonly child: Int32Array
  private readonly sibling: Int32Array
  private readonly fallback: Int32Array
  private readonly depth: Int32Array
  /** The longest pattern that ends here: its number from 1 on, or 0. */
  private readonly ending: Int32Array
  /** Where to look for the next shorter pattern that ends here. */
  private readonly shorter: Int32Array
  private readonly lengths: ReadonlyArray<number>
  private readonly open: Int32Array
  private readonly first = new Int32Array(256)
  private count = 1

  constructor(patterns: ReadonlyArray<Uint8Array>) {
    const size = patterns.reduce((sum, pattern) => sum + pattern.length, 1)
    this.byte = new Uint8Array(size)
    this.child = new Int32Array(size)
    this.sibling = new Int32Array(size)
    this.fallback = new Int32Array(size)
    this.depth = new Int32Array(size)
    this.ending = new Int32Array(size)
    this.shorter = new Int32Array(size)
    this.lengths = [0, ...patterns.map(({ length }) => length)]
    this.open = new Int32Array(size)
    patterns.forEach((pattern, index) => this.add(pattern, index + 1))
    this.link()
  }

  /** The state after another byte. */
  next(state: number, byte: number): number {
    for (let from = state; from !== 0; from = at(this.fallback, from)) {
      const to = this.step(from, byte)
      if (to !== 0) return to
    }
    return at(this.first, byte)
  }

  /** The length of the longest pattern that ends in this state, or 0. */
  longestAt(state: number): number {
    return this.lengths[at(this.ending, state)] ?? 0
  }

  /** The indices of all patterns that end in this state, the longest first. Of equal ones, the first. */
  patternsAt(state: number): ReadonlyArray<number> {
    const found: Array<number> = []
    for (let from = state; at(this.ending, from) !== 0; from = at(this.shorter, from)) {
      found.push(at(this.ending, from) - 1)
    }
    return found
  }

  /** How many of the last bytes may be the beginning of a pattern that has not ended. */
  openAt(state: number): number {
    return at(this.open, state)
  }

  private step(state: number, byte: number): number {
    if (state === 0) return at(this.first, byte)
    let to = at(this.child, state)
    while (to !== 0 && at(this.byte, to) !== byte) to = at(this.sibling, to)
    return to
  }

  private add(pattern: Uint8Array, number: number) {
    let state = 0
    for (const byte of pattern) {
      const known = this.step(state, byte)
      const to = known === 0 ? this.count++ : known
      if (known === 0) {
        this.byte[to] = byte
        this.depth[to] = at(this.depth, state) + 1
        if (state === 0) this.first[byte] = to
        this.sibling[to] = at(this.child, state)
        this.child[state] = to
      }
      state = to
    }
    if (at(this.ending, state) === 0) this.ending[state] = number
  }

  /** Sets where to go on when no pattern continues with the next byte, by growing depth. */
  private link() {
    const queue = [0]
    for (const state of queue) {
      for (let to = at(this.child, state); to !== 0; to = at(this.sibling, to)) {
        if (state !== 0) this.fallback[to] = this.next(at(this.fallback, state), at(this.byte, to))
        const fallback = at(this.fallback, to)
        const isWhole = at(this.ending, to) !== 0
        if (!isWhole) this.ending[to] = at(this.ending, fallback)
        this.shorter[to] = isWhole ? fallback : at(this.shorter, fallback)
        this.open[to] = at(this.child, to) === 0 ? at(this.open, fallback) : at(this.depth, to)
        queue.push(to)
      }
    }
  }
}

const at = (array: Int32Array | Uint8Array, index: number): number => array[index] ?? 0

import * as Effect from "effect/Effect"
import { pacing } from "../../base/EventLoop.js"

/**
 * How many steps are taken between two looks at the clock. A character may take as many as there are states and siblings, so
 * that characters say nothing of the time.
 */
const stepsAtOnce = 8_192

/** Finds many patterns in a text of bytes in one pass. */
export interface Matcher {
  /**
   * Calls `found` after each character that ends an occurrence, with its index and the state whose `longest` patterns end
   * there. Stops when `found` returns true. Returns whether it did.
   */
  readonly scan: (text: string, found: (index: number, state: number) => boolean) => Effect.Effect<boolean>
  /** The length of the longest pattern of a kind that ends in a state; 0 for none. */
  readonly longest: (kind: number, state: number) => number
  /** The length of the longest end of a text that a pattern begins with: more text could complete it. */
  readonly openEnd: (text: string) => Effect.Effect<number>
}

/** Patterns that are reported with the same kind, a small number counted from 0. */
export interface Patterns {
  readonly kind: number
  readonly texts: ReadonlyArray<string>
}

/**
 * Builds the automaton of Aho and Corasick (Communications of the ACM 18, 1975) for texts of bytes. Building and scanning take
 * time in proportion to the characters of the patterns and of the text, whatever they are, in slices of the event loop.
 */
export const makeMatcher = Effect.fnUntraced(function* (all: ReadonlyArray<Patterns>) {
  const pace = pacing()
  const size = 1 + all.reduce((sum, { texts }) => texts.reduce((inner, text) => inner + text.length, sum), 0)
  // States are numbered from 1; 0 is none, so that new arrays need no filling. The children of a state are a linked list.
  const characters = new Uint8Array(size + 1)
  const firstChild = new Int32Array(size + 1)
  const nextSibling = new Int32Array(size + 1)
  const fallback = new Int32Array(size + 1)
  const depths = new Int32Array(size + 1)
  const lengths = all.map(() => new Int32Array(size + 1))
  const root = 1
  const ofRoot = new Int32Array(256)
  let states = 1
  let steps = 0

  /** Whether it is time for a look at the clock. */
  const isDue = (): boolean => {
    if (steps < stepsAtOnce) return false
    steps = 0
    return true
  }

  const child = (state: number, character: number): number => {
    steps++
    if (state === root) return ofRoot[character] ?? 0
    let next = firstChild[state] ?? 0
    while (next !== 0 && characters[next] !== character) {
      steps++
      next = nextSibling[next] ?? 0
    }
    return next
  }

  const addChild = (state: number, character: number): number => {
    const added = ++states
    characters[added] = character
    depths[added] = (depths[state] ?? 0) + 1
    nextSibling[added] = firstChild[state] ?? 0
    firstChild[state] = added
    if (state === root) ofRoot[character] = added
    return added
  }

  /** The state after one more character. */
  const step = (state: number, character: number): number => {
    let from = state
    for (;;) {
      const next = child(from, character)
      if (next !== 0) return next
      if (from === root) return root
      from = fallback[from] ?? root
    }
  }

  for (const { kind, texts } of all) {
    for (const text of texts) {
      if (text === "") continue
      let state = root
      for (let index = 0; index < text.length; index++) {
        const character = text.charCodeAt(index) & 0xff
        state = child(state, character) || addChild(state, character)
        if (isDue()) yield* pace
      }
      const ends = lengths[kind]
      if (ends !== undefined) ends[state] = Math.max(ends[state] ?? 0, text.length)
    }
    yield* pace
  }

  // Breadth first, so that the fallback of a state is known before those of its children.
  const queue = new Int32Array(states)
  let queued = 0
  const enqueueChildren = (state: number): void => {
    for (let next = firstChild[state] ?? 0; next !== 0; next = nextSibling[next] ?? 0) queue[queued++] = next
  }
  fallback[root] = root
  for (let next = firstChild[root] ?? 0; next !== 0; next = nextSibling[next] ?? 0) fallback[next] = root
  enqueueChildren(root)
  for (let at = 0; at < queued; at++) {
    const state = queue[at] ?? root
    const behind = fallback[state] ?? root
    for (const ends of lengths) ends[state] = Math.max(ends[state] ?? 0, ends[behind] ?? 0)
    for (let next = firstChild[state] ?? 0; next !== 0; next = nextSibling[next] ?? 0) {
      fallback[next] = step(behind, characters[next] ?? 0)
      if (isDue()) yield* pace
    }
    steps++
    enqueueChildren(state)
    if (isDue()) yield* pace
  }

  const longestPattern = all.reduce((longest, { texts }) => Math.max(longest, ...texts.map((text) => text.length)), 0)

  const isEnd = (state: number): boolean => lengths.some((ends) => (ends[state] ?? 0) > 0)

  const matcher: Matcher = {
    scan: (text, found) =>
      Effect.gen(function* () {
        const paceOfScan = pacing()
        let state = root
        for (let index = 0; index < text.length; index++) {
          state = step(state, text.charCodeAt(index) & 0xff)
          if (isEnd(state) && found(index, state)) return true
          if (isDue()) yield* paceOfScan
        }
        return false
      }),
    longest: (kind, state) => lengths[kind]?.[state] ?? 0,
    openEnd: (text) =>
      Effect.gen(function* () {
        const paceOfScan = pacing()
        let state = root
        // A state is as deep as the steps to it, less those that fell back.
        for (let index = Math.max(0, text.length - longestPattern); index < text.length; index++) {
          state = step(state, text.charCodeAt(index) & 0xff)
          if (isDue()) yield* paceOfScan
        }
        return depths[state] ?? 0
      })
  }
  return matcher
})

/**
 * The longest piece of a text that a pattern is matched against. V8 keeps a stack for what a pattern repeats, and throws a
 * RangeError when the stack is full. Ten times the longest value leaves room for escapes.
 */
const windowLength = 655_360

/** Takes a text apart from its start, by sticky patterns. The work is linear in the length of the text. */
export class Scanner {
  at = 0
  private line = 1
  private counted = 0

  constructor(readonly text: string) {}

  get done(): boolean {
    return this.at >= this.text.length
  }

  /** Returns the match at the current position and moves behind it; null where there is none, or it is too long. */
  take(pattern: RegExp): RegExpExecArray | null {
    const window = this.text.slice(this.at, this.at + windowLength)
    pattern.lastIndex = 0
    const found = pattern.exec(window)
    if (found === null || (found[0].length === windowLength && this.at + windowLength < this.text.length)) return null
    this.at += found[0].length
    return found
  }

  /** Moves behind all characters that a pattern of a single repeated character class matches, however many. */
  skip(pattern: RegExp): void {
    pattern.lastIndex = this.at
    if (pattern.test(this.text)) this.at = pattern.lastIndex
  }

  /** Moves to the next later line that a pattern with the flag `m` matches, or to the end. */
  skipTo(pattern: RegExp): void {
    const end = this.text.indexOf("\n", this.at)
    const rest = end < 0 ? "" : this.text.slice(end + 1)
    const at = rest.search(pattern)
    this.at = at < 0 ? this.text.length : end + 1 + at
  }

  /** The line of an offset. Offsets must not decrease from call to call. */
  lineAt(offset: number): number {
    for (; this.counted < offset; this.counted++) if (this.text[this.counted] === "\n") this.line++
    return this.line
  }
}

const pasteStart = "\x1b[200~"
const pasteEnd = "\x1b[201~"

/** The escape sequence of a key such as an arrow, a function key, or Alt with a letter. */
const escape = /^\x1b(?:\[[0-?]*[ -/]*[@-~]|O.|[^[O])/s

/** `lines`: several lines arrived at once, without bracketed paste. */
export type HiddenState = "typing" | "done" | "cancelled" | "lines"

/**
 * The input at a prompt in raw mode. A terminal with bracketed paste puts marks around pasted text: line breaks between
 * the marks are text. Elsewhere Enter ends the input.
 */
export class HiddenLine {
  private typed = ""
  private pasting = false
  /** The start of an incomplete escape sequence. */
  private rest = ""

  /** Consumes input. Returns the state; input after the end is not consumed. */
  feed(chunk: string): HiddenState {
    let input = this.rest + chunk
    this.rest = ""
    while (input !== "") {
      if (this.pasting) {
        input = this.paste(input)
        continue
      }
      const [key = ""] = input
      if (key === "\x1b") {
        const after = this.skipEscape(input)
        if (after === undefined) return "typing"
        input = after
        continue
      }
      input = input.slice(key.length)
      if (key === "\r" || key === "\n") {
        const more = key === "\r" && input.startsWith("\n") ? input.slice(1) : input
        return more === "" ? "done" : "lines"
      }
      if (key === "\x03" || (key === "\x04" && this.typed === "")) return "cancelled"
      this.press(key)
    }
    return "typing"
  }

  /** The text, with line breaks as newlines. A single line has no final newline. */
  get text(): string {
    const text = this.typed.replace(/\r\n?/g, "\n")
    return text.indexOf("\n") === text.length - 1 ? text.slice(0, -1) : text
  }

  private press(key: string): void {
    if (key === "\x7f" || key === "\b") this.typed = [...this.typed].slice(0, -1).join("")
    else if (key === "\x15") this.typed = ""
    else if (key === "\t" || key >= " ") this.typed += key
  }

  /** Consumes pasted text up to the end mark. Returns the rest. */
  private paste(input: string): string {
    const end = input.indexOf(pasteEnd)
    if (end >= 0) {
      this.typed += input.slice(0, end)
      this.pasting = false
      return input.slice(end + pasteEnd.length)
    }
    const begun = input.lastIndexOf("\x1b")
    const cut = begun >= 0 && pasteEnd.startsWith(input.slice(begun)) ? begun : input.length
    this.typed += input.slice(0, cut)
    this.rest = input.slice(cut)
    return ""
  }

  /** Skips an escape sequence. Returns the rest; nothing if the sequence is incomplete. */
  private skipEscape(input: string): string | undefined {
    if (input.startsWith(pasteStart)) {
      this.pasting = true
      return input.slice(pasteStart.length)
    }
    const [sequence] = escape.exec(input) ?? []
    if (sequence !== undefined) return input.slice(sequence.length)
    this.rest = input
    return undefined
  }
}

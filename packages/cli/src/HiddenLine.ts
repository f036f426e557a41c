const pasteStart = "\x1b[200~"
const pasteEnd = "\x1b[201~"

/** A key that is no text: an arrow, a function key, or Alt with a letter. */
const escape = /^\x1b(?:\[[0-?]*[ -/]*[@-~]|O.|[^[O])/s

/** `lines`: several lines came at once, and the terminal did not mark them as pasted. */
export type HiddenState = "typing" | "done" | "cancelled" | "lines"

/**
 * What is typed or pasted at a prompt in raw mode. A terminal with bracketed paste marks what is pasted: line breaks between
 * the marks are text. Outside of them Enter ends the input.
 */
export class HiddenLine {
  private typed = ""
  private pasting = false
  /** The beginning of a sequence whose rest has not arrived yet. */
  private rest = ""

  /** Takes what arrived, and tells how things stand. Nothing is taken after the end. */
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

  /** The text: line breaks as newlines, and a single line without its end. */
  get text(): string {
    const text = this.typed.replace(/\r\n?/g, "\n")
    return text.indexOf("\n") === text.length - 1 ? text.slice(0, -1) : text
  }

  private press(key: string): void {
    if (key === "\x7f" || key === "\b") this.typed = [...this.typed].slice(0, -1).join("")
    else if (key === "\x15") this.typed = ""
    else if (key === "\t" || key >= " ") this.typed += key
  }

  /** Takes pasted text up to the end mark, and answers what is behind it. */
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

  /** What is behind a sequence; nothing while its end has not arrived. */
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

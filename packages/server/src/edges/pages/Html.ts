/** Markup that is safe to send: every text in it was escaped. */
export class Html {
  constructor(readonly text: string) {}
}

const entities: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;"
}

const escape = (text: string): string => text.replace(/[&<>"']/g, (character) => entities[character] ?? "")

type Part = string | Html | null | ReadonlyArray<Html>

const textOf = (part: Part): string => {
  if (part === null) return ""
  if (typeof part === "string") return escape(part)
  return part instanceof Html ? part.text : part.map(({ text }) => text).join("")
}

/** Markup from a template. Interpolated texts are escaped; null is nothing. */
export const markup = ([head = "", ...tail]: ReadonlyArray<string>, ...parts: ReadonlyArray<Part>): Html =>
  new Html(parts.reduce<string>((before, part, index) => before + textOf(part) + (tail[index] ?? ""), head))

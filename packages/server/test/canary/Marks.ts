import { randomBytes } from "node:crypto"

/** A word that is nowhere else: letters and digits alone, so that no escape of JSON or of a shell changes it. */
export const mark = (kind: string): string => `${kind}${randomBytes(10).toString("hex")}${kind}`

const base64Forms = (text: string): ReadonlyArray<string> =>
  [0, 1, 2].flatMap((offset) => {
    // Where the text stands inside a longer one, its first and last characters share theirs with what is beside it.
    const encoded = Buffer.concat([Buffer.alloc(offset), Buffer.from(text)])
      .toString("base64")
      .replace(/=+$/, "")
    const inner = encoded.slice(Math.ceil((offset * 4) / 3), offset === 0 && text.length % 3 === 0 ? undefined : -1)
    return [inner, inner.replaceAll("+", "-").replaceAll("/", "_")]
  })

/** The ways to write a word that a careless program may choose, as what stands in the bytes. */
export const formsOf = (text: string): ReadonlyArray<string> => {
  const bytes = Buffer.from(text)
  const hex = bytes.toString("hex")
  const percent = hex.replace(/../g, "%$&")
  return [
    ...new Set([
      text,
      text.toLowerCase(),
      text.toUpperCase(),
      hex,
      hex.toUpperCase(),
      percent,
      percent.toUpperCase(),
      Buffer.from(text, "utf16le").toString("latin1"),
      [...bytes].map((byte) => `\\u${byte.toString(16).padStart(4, "0")}`).join(""),
      [...bytes].join(","),
      ...base64Forms(text)
    ])
  ]
}

const isCode = (text: string): boolean => /^\d{6}$/.test(text)

/** Which forms of a word stand in some bytes. Six digits count only where they are not part of a longer number or word. */
export const formsIn = (bytes: Buffer, text: string): ReadonlyArray<string> => {
  const haystack = bytes.toString("latin1")
  const alone = new RegExp(`(?<![0-9A-Za-z.-])${text}(?![0-9A-Za-z-])`)
  return formsOf(text).filter((form) =>
    isCode(text) && form === text ? alone.test(haystack) : haystack.includes(form)
  )
}

/** Undoes one encoding wherever it occurs in a text of bytes. Returns no view if the text has nothing to decode. */
type Decoder = (text: string) => ReadonlyArray<string>

const byte = (hex: string): string => String.fromCharCode(Number.parseInt(hex, 16))

const percent: Decoder = (text) => {
  const decode = (one: string) => one.replace(/%([0-9A-Fa-f]{2})/g, (_all, hex: string) => byte(hex))
  const views = text.includes("%") ? [decode(text)] : []
  return text.includes("+") ? [...views, decode(text.replace(/\+/g, " "))] : views
}

const controls: Readonly<Record<string, string>> = { b: "\b", f: "\f", n: "\n", r: "\r", t: "\t" }

/** The bytes of characters that were escaped as UTF-16. */
const utf8 = (units: string): string => Buffer.from(units).toString("latin1")

const json: Decoder = (text) =>
  text.includes("\\")
    ? [
        text.replace(
          /((?:\\u[0-9A-Fa-f]{4})+)|\\x([0-9A-Fa-f]{2})|\\(.)/gs,
          (_all, units: string | undefined, hex: string | undefined, other: string | undefined) =>
            units !== undefined
              ? utf8(units.replace(/\\u([0-9A-Fa-f]{4})/g, (_one, code: string) => byte(code)))
              : hex !== undefined
                ? byte(hex)
                : (controls[other ?? ""] ?? other ?? "")
        )
      ]
    : []

const entities: Readonly<Record<string, string>> = { amp: "&", apos: "'", gt: ">", lt: "<", quot: '"' }

const html: Decoder = (text) =>
  text.includes("&")
    ? [
        text.replace(/&(?:#([0-9]{1,7})|#[xX]([0-9A-Fa-f]{1,6})|([a-z]{2,4}));/g, (all, decimal, hex, name) => {
          const code = typeof decimal === "string" ? Number(decimal) : Number.parseInt(String(hex), 16)
          if (typeof name === "string") return entities[name] ?? all
          return code <= 0x10ffff ? utf8(String.fromCodePoint(code)) : all
        })
      ]
    : []

/** Shorter runs hold no value that a rule may use. */
const base64: Decoder = (text) => {
  const runs = text.match(/[A-Za-z0-9+/_-]{10,}/g)
  return runs === null
    ? []
    : [0, 1, 2, 3].map((skipped) =>
        runs.map((run) => Buffer.from(run.slice(skipped), "base64").toString("latin1")).join("\n")
      )
}

const hex: Decoder = (text) => {
  const runs = text.match(/[0-9A-Fa-f]{16,}/g)
  return runs === null
    ? []
    : [0, 1].map((skipped) => runs.map((run) => Buffer.from(run.slice(skipped), "hex").toString("latin1")).join("\n"))
}

/** Text in UTF-16, in lines, or with separators between bytes. */
const packed: Decoder = (text) => (/[\s:\0]/.test(text) ? [text.replace(/[\s:\0]+/g, "")] : [])

const decoders: ReadonlyArray<Decoder> = [percent, json, html, base64, hex, packed]

/** How often a text is decoded. */
const depth = 2

/** All that a text decodes to, by every decoder, up to `depth` times; the text itself first. Computed as it is asked for. */
export function* viewsOf(text: string, left = depth): Generator<string> {
  yield text
  if (left === 0) return
  for (const decode of decoders) {
    for (const view of decode(text)) yield* viewsOf(view, left - 1)
  }
}

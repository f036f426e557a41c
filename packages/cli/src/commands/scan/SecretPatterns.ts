import * as Redacted from "effect/Redacted"

/** A spelling of a value to search for. */
export interface SecretPattern {
  readonly key: string
  readonly bytes: Buffer
}

interface Secret {
  readonly key: string
  readonly value: Redacted.Redacted
}

/** Shorter values stand in many files that have nothing to do with a secret. */
export const leastLength = 8

/** Lines of a value are looked for by themselves if they are as long as those of a PEM file. */
const leastLine = 40

const isLooked = (value: string) => [...value].length >= leastLength && !/^[0-9]{1,11}$/.test(value)

/**
 * The base64 of a text that stands anywhere in what was encoded: one spelling for each remainder of its position by three. The
 * first and last characters also depend on the neighbours of the text and are left out.
 */
const base64 = (text: string): ReadonlyArray<string> => {
  const bytes = Buffer.from(text)
  return [0, 1, 2].map((offset) => {
    const bits = (offset + bytes.length) * 8
    const encoded = Buffer.concat([Buffer.alloc(offset), bytes]).toString("base64")
    return encoded.slice(Math.ceil((offset * 8) / 6), Math.floor(bits / 6))
  })
}

/** The alphabet of base64 for URLs, such as in tokens. */
const forUrls = (text: string) => text.replaceAll("+", "-").replaceAll("/", "_")

/** As it is, as JSON and `.env` files escape it, with both kinds of line breaks, in base64, and its long lines. */
const spellingsOf = (value: string): ReadonlyArray<string> => {
  const bare = value.trim()
  if (!isLooked(bare)) return []
  const lines = bare.split(/\r?\n/)
  const long = lines.length === 1 ? [] : lines.map((line) => line.trim()).filter((line) => line.length >= leastLine)
  const whole = [bare, lines.join("\n"), lines.join("\r\n")]
  const encoded = base64(bare)
  const spellings = [...whole, JSON.stringify(bare).slice(1, -1), ...encoded, ...encoded.map(forUrls)]
  return [...new Set([...spellings, ...long.filter((line) => !/\s/.test(line))])]
}

/** The patterns of secrets, and the keys whose values are too short or plain to search for. */
export const secretPatterns = (secrets: ReadonlyArray<Secret>) => {
  const found = secrets.map(({ key, value }) => ({ key, spellings: spellingsOf(Redacted.value(value)) }))
  return {
    patterns: found.flatMap(({ key, spellings }) =>
      spellings.map((text): SecretPattern => ({ key, bytes: Buffer.from(text) }))
    ),
    left: found.flatMap(({ key, spellings }) => (spellings.length === 0 ? [key] : []))
  }
}

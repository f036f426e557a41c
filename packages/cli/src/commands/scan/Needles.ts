import { Redacted } from "effect"

/** A spelling of a value that is looked for. */
export interface Needle {
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

const base64 = (text: string) => Buffer.from(text).toString("base64").replace(/=+$/, "")

/** As it is, as JSON and `.env` files escape it, in base64 as a manifest of Kubernetes holds it, and its long lines. */
const spellingsOf = (value: string): ReadonlyArray<string> => {
  const bare = value.trim()
  if (!isLooked(bare)) return []
  const lines = bare.split(/\r?\n/)
  const long = lines.length === 1 ? [] : lines.map((line) => line.trim()).filter((line) => line.length >= leastLine)
  const spellings = [bare, JSON.stringify(bare).slice(1, -1), base64(value), base64(bare)]
  return [...new Set([...spellings, ...long.filter((line) => !/\s/.test(line))])]
}

/** What to look for, and the keys whose values are too short or plain for that. */
export const needlesOf = (secrets: ReadonlyArray<Secret>) => {
  const found = secrets.map(({ key, value }) => ({ key, spellings: spellingsOf(Redacted.value(value)) }))
  return {
    needles: found.flatMap(({ key, spellings }) =>
      spellings.map((text): Needle => ({ key, bytes: Buffer.from(text) }))
    ),
    left: found.flatMap(({ key, spellings }) => (spellings.length === 0 ? [key] : []))
  }
}

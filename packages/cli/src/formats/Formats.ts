import type { Pair } from "@coffer/domain/formats/Format"
import { type FormatName, formatNames } from "@coffer/domain/formats/FormatNames"
import { loadFormat, readSecrets as readUninterrupted } from "@coffer/domain/formats/Reading"
import { refusedPairs, textOfPairs } from "@coffer/domain/formats/Writing"
import type { BundledSecret } from "@coffer/domain/secrets/Bundle"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import { CannotDo } from "../base/Failures.js"
import { isNotForChildren } from "@coffer/domain/secrets/DangerousVariables"
import { withDefaultSignals } from "../terminal/DefaultSignals.js"

const alternatives = Effect.fnUntraced(function* (pairs: ReadonlyArray<Pair>) {
  const able = yield* Effect.filter(formatNames, (name) =>
    Effect.map(loadFormat(name), (format) => pairs.every((pair) => format.refusal(pair) === undefined))
  )
  return `${able.join(", ").replace(/, (\w+)$/, " or $1")} can hold ${pairs.length === 1 ? "it" : "them"}`
})

interface WriteOptions {
  /** Write the comments that a file of this format begins with. */
  readonly withHead: boolean
  /** Leave out what the format cannot hold. */
  readonly skip: boolean
  /** Whether a shell gets a key although it makes other programs run code. */
  readonly isAllowed: (key: string) => boolean
}

export interface SecretsWritten {
  readonly text: Redacted.Redacted
  /** Which secrets were left out, and why. */
  readonly left: ReadonlyArray<string>
}

/** Returns the text of a file with these secrets. Fails, with their names, when the format cannot hold some of them. */
export const writeSecrets = Effect.fnUntraced(function* (
  name: FormatName,
  secrets: ReadonlyArray<Pick<BundledSecret, "key" | "value">>,
  { isAllowed, skip, withHead }: WriteOptions
) {
  const format = yield* loadFormat(name)
  const pairs = secrets.map(({ key, value }): Pair => ({ key, value: Redacted.value(value) }))
  const refused = refusedPairs(name, format, pairs, isAllowed)
  const left = refused.map(({ why }) => why)
  if (refused.length > 0 && !skip) {
    const others = yield* alternatives(refused.map(({ pair }) => pair))
    const withheld = refused.filter(({ pair }) => name === "shell" && isNotForChildren(pair.key))
    const pass =
      withheld.length === 0
        ? ""
        : `, or pass names on with ${withheld.map(({ pair }) => `--allow-env ${pair.key}`).join(" ")}`
    return yield* new CannotDo({
      message: `the format ${name} cannot hold everything: ${left.join(", ")}; ${others}: choose with --format${pass}`
    })
  }
  const body = textOfPairs(format, pairs, refused)
  const written: SecretsWritten = { text: Redacted.make((withHead ? (format.head ?? "") : "") + body), left }
  return written
})

/** Reads the secrets of a file, as `Reading.ts` does. A signal ends the program while a large file is parsed. */
export const readSecrets = (...parameters: Parameters<typeof readUninterrupted>) =>
  withDefaultSignals(readUninterrupted(...parameters))

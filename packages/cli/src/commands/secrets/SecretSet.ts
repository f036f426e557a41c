import type { CommandLineSettings } from "@coffer/client/internal/Settings"
import type { EnvPath } from "@coffer/domain/api/Paths"
import { isSecretValue, secretValueMessage } from "@coffer/domain/secrets/SecretValueForm"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Redacted from "effect/Redacted"
import { CannotDo, WrongUsage } from "../../base/Failures.js"
import { noteUndo } from "../../changes/BulkChange.js"
import { printChanges } from "../../changes/Changes.js"
import { asking, atEnv, type Call } from "../../grammar/Command.js"
import { warnOfHistory } from "../../secrets/HistoryWarning.js"
import { checkArgument } from "../../secrets/SecretInput.js"
import { checkSet, onlyWrite, pairsOf, type SetOptions, setSpecs, store } from "../../secrets/Set.js"

/** Stores several values in one write. */
const storeMany = Effect.fnUntraced(function* (
  call: Call,
  path: EnvPath,
  options: SetOptions,
  { given, json }: { readonly given: CommandLineSettings; readonly json: boolean }
) {
  const pairs = yield* Either.mapLeft(pairsOf(options), (message) => new WrongUsage({ message }))
  yield* warnOfHistory
  const values = yield* Effect.forEach(pairs, ({ key, value = Redacted.make("") }) => {
    const text = Redacted.value(value)
    return isSecretValue(text)
      ? Effect.as(checkArgument(`the value of ${key}`, text), [key, Redacted.make(text)] as const)
      : new CannotDo({ message: `${key}: ${secretValueMessage}` })
  })
  const payload = options.expand ? { references: new Map(values) } : { set: new Map(values) }
  const written = yield* call("environments", (api) => api.writeBundle({ path, headers: {}, payload }))
  const place = `${path.project_name}/${path.env_name}`
  yield* printChanges(written, { json, dryRun: false, place, rows: true })
  if (written.data.some(({ change }) => change !== "unchanged")) yield* noteUndo(written, path, given)
})

export const set = atEnv("set", {
  description:
    "Store a value: the argument, else --file, else standard input, else what you type and nobody sees; or one that --generate makes",
  examples: [
    "coffer secret set API_KEY < key.txt",
    "coffer secret set LOG_LEVEL=debug PORT=8080",
    "coffer secret set API_KEY --file key.txt --if-version 3",
    "coffer secret set SESSION_SECRET --generate",
    "coffer secret set WEBHOOK_TOKEN --generate=64,hex --if-version 0",
    "coffer secret set URL --expand 'postgres://app:${DB_PASSWORD}@db/shop'"
  ],
  options: {
    key: setSpecs.key,
    values: setSpecs.values,
    file: setSpecs.file,
    generate: setSpecs.generate,
    expand: setSpecs.expand,
    allowEmpty: setSpecs.allowEmpty,
    ifVersion: setSpecs.ifVersion,
    ...asking
  },
  check: checkSet,
  run: ({ call, exchange, given, json, options, path }) =>
    Effect.gen(function* () {
      const one = onlyWrite(options)
      if (one !== undefined) return yield* store(exchange, path, one, options)
      return yield* storeMany(call, path, options, { given, json })
    })
})

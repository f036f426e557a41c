import type { EnvPath } from "@coffer/domain/api/Paths"
import type { SecretKey } from "@coffer/domain/base/Names"
import { listOf } from "@coffer/domain/secrets/Bundle"
import * as Array from "effect/Array"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import { changeMany, etagOf, yes } from "../../changes/BulkChange.js"
import { defined } from "@coffer/domain/base/Defined"
import { CannotDo } from "../../base/Failures.js"
import type { BadFile } from "@coffer/domain/formats/Format"
import { type FormatName, formatNames } from "@coffer/domain/formats/FormatNames"
import type { SecretMap } from "@coffer/domain/formats/Reading"
import { readSecrets, writeSecrets } from "../../formats/Formats.js"
import { asking, atEnv, type Call } from "../../grammar/Command.js"
import { option } from "../../grammar/Fields.js"
import { editText } from "../../terminal/Editor.js"
import type { Input } from "../../terminal/Input.js"
import type { Output } from "../../terminal/Output.js"
import { note } from "../../terminal/Print.js"
import { ask, canAsk } from "../../terminal/Prompts.js"
import { dueOptions, setDue, setsDue } from "./Due.js"
import { applyEdit, type Edit, editOf, isEmpty, overlap } from "./Edits.js"
import { someKeys } from "./KeyArguments.js"

/** The secrets of an environment at one moment. */
interface State {
  readonly secrets: SecretMap
  /** The secrets that are references: their texts are edited. */
  readonly references: ReadonlySet<SecretKey>
  readonly etag: string | undefined
}

const readState = Effect.fnUntraced(function* (call: Call, path: EnvPath, keys: ReadonlyArray<SecretKey>) {
  const urlParams = { raw: true, ...(keys.length > 0 && { keys }) } as const
  const [bundle, response] = yield* call("environments", (api) =>
    api.bundle({ path, urlParams, headers: {}, withResponse: true })
  )
  const data = listOf(bundle)?.data ?? []
  const secrets = new Map(data.map(({ key, value }) => [key, value] as const))
  const references = new Set(data.flatMap(({ key, kind }) => (kind === "reference" ? [key] : [])))
  const state: State = { secrets, references, etag: etagOf(response) }
  return state
})

const fileNames: Readonly<Record<FormatName, string>> = {
  env: "secrets.env",
  shell: "secrets.sh",
  docker: "docker.env",
  json: "secrets.json",
  yaml: "secrets.yaml"
}

const headOf = (format: FormatName, path: EnvPath, references: ReadonlySet<SecretKey>) =>
  format === "json"
    ? ""
    : `# Secrets of ${path.org_name}/${path.project_name}/${path.env_name}. A line that is removed deletes its secret.\n${
        references.size === 0
          ? ""
          : `# In ${[...references].join(", ")}, \${KEY} stands for the value of another secret.\n`
      }`

const textOf = Effect.fnUntraced(function* (
  format: FormatName,
  path: EnvPath,
  secrets: SecretMap,
  references: ReadonlySet<SecretKey>
) {
  const pairs = [...secrets].map(([key, value]) => ({ key, value }))
  const { text } = yield* writeSecrets(format, pairs, { withHead: false, skip: false, isAllowed: () => true })
  return Redacted.make(headOf(format, path, references) + Redacted.value(text))
})

/** Waits for a person before the editor takes the screen again. */
const again = ask("press Enter to edit again, or ctrl-C to stop ")

type Edited = Effect.Effect<SecretMap, BadFile | CannotDo, Input | Output>

/** Has a person edit a text until it can be read. Where nobody can be asked, a mistake is a failure. */
const editUntilRead = (format: FormatName, text: Redacted.Redacted): Edited =>
  Effect.gen(function* () {
    const name = fileNames[format]
    const edited = yield* editText(name, text)
    const reading = yield* Effect.either(readSecrets(format, name, edited))
    if (Either.isRight(reading)) return reading.right.secrets
    if (!(yield* canAsk)) return yield* reading.left
    yield* Effect.forEach(reading.left.lines, note)
    yield* again
    return yield* editUntilRead(format, edited)
  })

export const edit = atEnv("edit", {
  description:
    "Change secrets in your editor ($VISUAL, $EDITOR or vi), in a file that is yours alone and removed afterwards; or set when they are due",
  examples: [
    "coffer secret edit",
    "coffer secret edit API_KEY DATABASE_URL",
    "coffer secret edit --format env --yes",
    "coffer secret edit API_KEY --until 2027-01-31 --rotate-every 90d --owner ops@example.com",
    "coffer secret edit API_KEY --until none"
  ],
  options: {
    keys: someKeys,
    format: option(
      "format",
      Schema.Literal(...formatNames),
      "The file's format; yaml, which holds every value, when left out"
    ),
    ...dueOptions,
    yes,
    ...asking
  },
  check: (options) => {
    if (!setsDue(options)) return undefined
    if (options.keys.length === 0) return "name the secrets whose due dates you set"
    return options.format === undefined ? undefined : "--format is for the editor, and a due date is set without one"
  },
  run: (context) => {
    const { call, options, path } = context
    const { format = "yaml", keys, yes } = options
    if (setsDue(options)) return setDue(call, path, keys, options)
    const place = `${path.project_name}/${path.env_name}`

    const write = (edit: Edit, { etag, references }: State) =>
      changeMany({ ...context, options: { dryRun: false, yes } }, path, ({ dryRun }) => {
        const [texts, expanded] = Array.partition([...edit.set], ([key]) => references.has(key))
        const payload = {
          set: new Map(texts),
          references: new Map(expanded),
          delete: edit.deleted,
          dry_run: dryRun
        }
        const headers = defined({ "if-match": etag })
        return call("environments", (api) => api.writeBundle({ path, headers, payload, withResponse: true }))
      })

    /** Goes on from the newest state, with what the person changed, except where somebody else changed that too. */
    const rebase = Effect.fnUntraced(function* (mine: Edit, before: State) {
      const message = `${place} was changed by somebody else meanwhile, and nothing was written`
      if (!(yield* canAsk)) return yield* new CannotDo({ message: `${message}; edit it again` })
      yield* note(message)
      const state = yield* readState(call, path, keys)
      const theirs = overlap(mine, editOf(before.secrets, state.secrets))
      if (theirs.length > 0) yield* note(`the file will show what they wrote, not what you did: ${theirs.join(", ")}`)
      yield* again
      return { state, shown: applyEdit(state.secrets, mine, theirs) }
    })

    return Effect.gen(function* () {
      let state = yield* readState(call, path, keys)
      let shown = state.secrets
      for (;;) {
        const edited = yield* editUntilRead(format, yield* textOf(format, path, shown, state.references))
        const mine = editOf(state.secrets, edited)
        if (isEmpty(mine)) return yield* note(`nothing was changed in ${place}`)
        const written = yield* Effect.either(write(mine, state))
        if (Either.isRight(written)) return
        if (written.left._tag !== "Conflict") return yield* written.left
        const next = yield* rebase(mine, state)
        state = next.state
        shown = next.shown
      }
    })
  }
})

import { SecretKey } from "@coffer/domain/base/Names"
import { listOf } from "@coffer/domain/secrets/Bundle"
import * as Effect from "effect/Effect"
import { changeMany, dryRun, etagOf, noteUndo, yes } from "../../changes/BulkChange.js"
import { noteWarnings } from "../../changes/Warnings.js"
import { defined } from "@coffer/domain/base/Defined"
import { CannotDo } from "../../base/Failures.js"
import { asking, atEnv } from "../../grammar/Command.js"
import { argument } from "../../grammar/Fields.js"
import { requiredEnv } from "../../grammar/PlaceArguments.js"
import { completedBy } from "../../grammar/Specs.js"
import { doneView } from "../../terminal/View.js"
import { severalKeys } from "./KeyArguments.js"

export const copy = atEnv("copy", {
  description: "Write secrets of this environment to another one, without showing them",
  examples: [
    "coffer secret copy API_KEY --env staging --to prod --dry-run",
    "coffer secret copy API_KEY DATABASE_URL --env staging --to webshop/prod"
  ],
  options: {
    keys: severalKeys,
    to: requiredEnv("to", "The environment that they are written to"),
    dryRun,
    yes,
    ...asking
  },
  place: ({ to }) => to.above,
  run: (context) => {
    const { call, options, path } = context
    const target = { ...path, env_name: options.to.name }
    const keys = [...new Set(options.keys)]
    return changeMany(context, target, ({ dryRun, headers }) =>
      call("environments", (api) =>
        api.copy({ path: target, headers, payload: { from: path.env_name, keys, dry_run: dryRun }, withResponse: true })
      )
    )
  }
})

const notRead = new CannotDo({ message: "the server sent no secrets; try again" })

export const rename = atEnv("rename", {
  description:
    "Store a secret under a new key and delete the old one, which keeps its versions: undelete brings it back",
  examples: ["coffer secret rename API_KEY PAYMENT_API_KEY"],
  options: {
    from: completedBy("key", argument("OLD", SecretKey, "The secret's key")),
    to: argument("NEW", SecretKey, "The new key, which must not be there yet"),
    ...asking
  },
  check: ({ from, to }) => (from === to ? `${from} is its own name already: give another one` : undefined),
  run: ({ call, given, options: { from, to }, path }) =>
    Effect.gen(function* () {
      const place = `${path.project_name}/${path.env_name}`
      const [bundle, response] = yield* call("environments", (api) =>
        api.bundle({ path, urlParams: { keys: [from], raw: true }, headers: {}, withResponse: true })
      )
      const secret = listOf(bundle)?.data.find(({ key }) => key === from)
      if (secret === undefined) return yield* notRead
      const values = new Map([[to, secret.value]])
      const stored = secret.kind === "reference" ? { references: values } : { set: values }
      const write = (dry_run: boolean) =>
        call("environments", (api) =>
          api.writeBundle({
            path,
            headers: defined({ "if-match": etagOf(response) }),
            payload: { ...stored, delete: [from], dry_run }
          })
        )
      const planned = yield* write(true)
      if (planned.data.some(({ change, key }) => key === to && change !== "created")) {
        return yield* new CannotDo({
          message: `${to} is in ${place} already, and nothing was changed; delete it first, or choose another key`
        })
      }
      const written = yield* write(false)
      yield* noteWarnings(written, place)
      const version = written.data.find(({ key }) => key === to)?.version ?? 1
      const { json, text } = doneView(`${from} is now ${to} in ${place}, as version ${version}`, written)
      return { json, text: Effect.zipRight(text, noteUndo(written, path, given)) }
    })
})

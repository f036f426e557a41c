import type { EnvPath } from "@coffer/domain/api/Paths"
import type { SecretKey } from "@coffer/domain/base/Names"
import { ExpectedVersionParameter } from "@coffer/domain/base/Schemas"
import * as Effect from "effect/Effect"
import { etagOf, noteUndo } from "../../changes/BulkChange.js"
import { defined } from "@coffer/domain/base/Defined"
import { NotThere } from "../../base/Failures.js"
import { asking, atEnv, type Call, yes } from "../../grammar/Command.js"
import { option } from "../../grammar/Fields.js"
import { flag } from "../../grammar/Specs.js"
import { questionAbout } from "../../grammar/Words.js"
import { note } from "../../terminal/Print.js"
import { confirm } from "../../terminal/Prompts.js"
import { doneView } from "../../terminal/View.js"
import { serverOption } from "../trash/Trash.js"
import { sentenceOf, severalKeys } from "./KeyArguments.js"

const placeOf = (path: EnvPath) => `${path.project_name}/${path.env_name}`

/** Versions of a deleted secret are kept until somebody destroys them. */
const noteUndelete = (key: SecretKey, { env_name, org_name, project_name }: EnvPath, server: string) =>
  note(`bring it back with: coffer secret undelete ${key} --env ${org_name}/${project_name}/${env_name}${server}`)

const deleteOne = Effect.fnUntraced(function* (
  call: Call,
  path: EnvPath,
  key: SecretKey,
  options: {
    readonly yes: boolean
    readonly force: boolean
    readonly ifVersion: number | undefined
    /** The option of the next command. */
    readonly server: string
  }
) {
  yield* confirm(`Delete ${key} from ${placeOf(path)}?`, options.yes)
  const urlParams = {
    ...defined({ expected_version: options.ifVersion }),
    ...(options.force && { force: true as const })
  }
  yield* call("secrets", (api) => api.delete({ path: { ...path, key }, urlParams }))
  // As the write of several keys says it.
  const { json, text } = doneView(`${key} deleted from ${placeOf(path)}`, { data: [{ key, change: "deleted" }] })
  return { json, text: Effect.zipRight(text, noteUndelete(key, path, options.server)) }
})

/** Deletes several secrets by one write. The server takes absent keys, so a dry run looks for them. */
const deleteMany = Effect.fnUntraced(function* (
  call: Call,
  path: EnvPath,
  keys: ReadonlyArray<SecretKey>,
  options: { readonly yes: boolean; readonly force: boolean }
) {
  const write = (dry_run: boolean, etag: string | undefined) =>
    call("environments", (api) =>
      api.writeBundle({
        path,
        headers: defined({ "if-match": etag }),
        payload: { delete: keys, dry_run, ...(options.force && { force: true }) },
        withResponse: true
      })
    )
  const [planned, response] = yield* write(true, undefined)
  const absent = planned.data.filter(({ change }) => change !== "deleted").map(({ key }) => key)
  if (absent.length > 0) {
    const are = absent.length === 1 ? "is" : "are"
    const existing = yield* call("secrets", (api) => api.list({ path, urlParams: {} })).pipe(
      Effect.map(({ data }) => data.map((secret): string => secret.key)),
      Effect.orElseSucceed(() => [])
    )
    const question = questionAbout(absent[0] ?? "", existing)
    return yield* new NotThere({
      message: `${sentenceOf(absent)} ${are} not in ${placeOf(path)}, and nothing was deleted${question} coffer secret list shows the keys`
    })
  }
  yield* confirm(`Delete ${sentenceOf(keys)} from ${placeOf(path)}?`, options.yes)
  const [written] = yield* write(false, etagOf(response))
  return written
})

export const remove = atEnv("delete", {
  description: "Delete a secret, or several: all of them or none",
  examples: [
    "coffer secret delete API_KEY",
    "coffer secret delete API_KEY --yes --if-version 3",
    "coffer secret delete API_KEY DATABASE_URL"
  ],
  options: {
    keys: severalKeys,
    yes,
    force: flag("force", "Also if other secrets refer to it, which then cannot be read"),
    ifVersion: option("if-version", ExpectedVersionParameter, "Only when this is the current version, of one key"),
    ...asking
  },
  check: ({ ifVersion, keys }) =>
    ifVersion !== undefined && new Set(keys).size > 1
      ? "--if-version names a version of one secret: delete them one by one"
      : undefined,
  run: ({ call, given, options: { force, ifVersion, keys: named, yes }, path }) =>
    Effect.gen(function* () {
      const keys = [...new Set(named)]
      const [key] = keys
      if (keys.length === 1 && key !== undefined) {
        return yield* deleteOne(call, path, key, { yes, force, ifVersion, server: serverOption(given) })
      }
      const written = yield* deleteMany(call, path, keys, { yes, force })
      const { json, text } = doneView(`${sentenceOf(keys)} deleted from ${placeOf(path)}`, written)
      return { json, text: Effect.zipRight(text, noteUndo(written, path, given)) }
    })
})

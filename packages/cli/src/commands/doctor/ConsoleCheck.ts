import { headersBefore } from "@coffer/client/internal/Connection"
import { reasonOf } from "@coffer/client/internal/ConnectionProblem"
import { makeSend } from "@coffer/client/internal/NodeRequest"
import { type HttpResponse, textOf } from "@coffer/client/internal/Send"
import type { ServerUrl } from "@coffer/client/internal/ServerUrl"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { createHash } from "node:crypto"
import { plural } from "../../terminal/Plural.js"
import { failed, type Finding, ok, problem, warning } from "./Finding.js"

/** `/console.json` of the release that this client is part of, which the release builds in. */
declare const COFFER_CONSOLE: string

/** The console's files of this client's release, as `/console.json` of its server lists them. Empty without a release. */
export class ConsoleFiles extends Context.Reference<ConsoleFiles>()("@coffer/cli/ConsoleFiles", {
  defaultValue: () => (typeof COFFER_CONSOLE === "undefined" ? "" : COFFER_CONSOLE)
}) {}

const decode = Schema.decodeOption(
  Schema.parseJson(
    Schema.Struct({
      // Shown at a terminal, whoever sent it.
      version: Schema.String.pipe(Schema.pattern(/^[\w.+-]{1,40}$/)),
      files: Schema.Record({ key: Schema.String, value: Schema.String })
    })
  )
)

const check = "console"

/** Bytes. The largest file of the console has a tenth of it. */
const maxBytes = 4 * 1024 * 1024

const remedy = "do not sign in there until its operator has installed the release again"

/** Returns what is wrong with a file, or undefined if it is the release's. */
const compare = (path: string, digest: string, { body, status }: HttpResponse) => {
  if (status !== 200) return `lacks ${path} (status ${status}), a file`
  const same = createHash("sha256").update(body).digest("hex") === digest
  return same ? undefined : `has changed ${path}, a file`
}

/**
 * Compares each file of the console that a server serves with this client's list. It finds what somebody changed on the server
 * or on the way, but not a server that gives browsers other files than this client.
 */
export const checkConsole = Effect.fnUntraced(
  function* (server: ServerUrl) {
    const own = decode(yield* ConsoleFiles)
    if (Option.isNone(own))
      return ok(check, "not compared: this client was not made by a release, and has no list of its files")
    const { files, version } = own.value
    const send = yield* makeSend(server)
    const headers = yield* yield* headersBefore(server)
    const get = (path: string) => send({ url: new URL(server.base + path), method: "GET", headers, maxBytes })
    const listed = yield* get("/console.json")
    if (listed.status === 404) {
      return (yield* get("/")).status === 404
        ? ok(check, "not compared: the server serves none")
        : warning(
            check,
            "not compared: the server has a console and no list of its files: it is older than 0.3.0, or somebody removed the list"
          )
    }
    const theirs = decode(textOf(listed))
    if (listed.status !== 200 || Option.isNone(theirs)) {
      return warning(
        check,
        `not compared: ${server.base}/console.json is no list of files; check what is before the server`
      )
    }
    if (theirs.value.version !== version) {
      return warning(
        check,
        `not compared: it is of coffer ${theirs.value.version}, and this client has the list of ${version} alone; use the client of that release`
      )
    }
    const found = yield* Effect.forEach(
      Object.entries(files),
      ([path, digest]) => Effect.map(get(path), (response) => compare(path, digest, response)),
      { concurrency: 4 }
    )
    const [first, ...others] = found.filter((wrong) => wrong !== undefined)
    if (first === undefined) return ok(check, `the same as the release ${version}: ${plural(found.length, "file")}`)
    const more = others.length === 0 ? "" : `, and ${others.length} more differ`
    return problem(check, `the server ${first} of the release ${version}${more}; ${remedy}`)
  },
  Effect.timeoutOption("60 seconds"),
  Effect.map(
    Option.getOrElse((): Finding => warning(check, "not compared: the server took more than 60 s; try again"))
  ),
  Effect.catchTag("RequestFailed", (failure) =>
    Effect.succeed(warning(check, `not compared: ${reasonOf(failure)}; try again`))
  ),
  Effect.catchAll((failure) => Effect.succeed(failed(check, failure)))
)

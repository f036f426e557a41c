import { unexpectedResponse } from "@coffer/client/internal/ClientErrors"
import { headersBefore } from "@coffer/client/internal/Connection"
import { noResponseWithin, serverUnreachable } from "@coffer/client/internal/ConnectionProblem"
import { makeSend } from "@coffer/client/internal/NodeRequest"
import { headerOf } from "@coffer/client/internal/Send"
import type { ServerUrl } from "@coffer/client/internal/ServerUrl"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import { clientWith } from "../../grammar/Command.js"
import { Version } from "../../base/Version.js"
import { failed, type Finding, ok, warning } from "./Finding.js"

/** Seconds. A Date header has whole seconds, and requests take a while. */
const tolerance = 10

const checkClock = (date: string | undefined, begun: number, ended: number): Finding => {
  const time = Date.parse(date ?? "")
  if (Number.isNaN(time)) return warning("clock", "the server's response has no date; compare the clocks yourself")
  const seconds = Math.round((time + 500 - (begun + ended) / 2) / 1000)
  if (Math.abs(seconds) <= tolerance) return ok("clock", "the same as the server's")
  const off = `${Math.abs(seconds)} s ${seconds > 0 ? "behind" : "ahead of"} the server's`
  return warning(
    "clock",
    `this machine's clock is ${off}; set the wrong one: times of sessions and of the log depend on it`
  )
}

/** Asks the server for its health. Returns the connection's finding and the clock's. */
const checkHealth = (server: ServerUrl) =>
  Effect.gen(function* () {
    const send = yield* makeSend(server)
    const headers = yield* yield* headersBefore(server)
    const begun = yield* Clock.currentTimeMillis
    const url = new URL(`${server.base}/health`)
    const response = yield* send({ url, method: "GET", headers }).pipe(
      Effect.mapError((failure) => serverUnreachable(server.base, failure)),
      Effect.timeoutFail({ duration: "15 seconds", onTimeout: () => noResponseWithin(server.base, 15) })
    )
    const ended = yield* Clock.currentTimeMillis
    if (response.status !== 200) return yield* unexpectedResponse(server.base, response)
    return [
      ok("connection", `${server.base} answers in ${ended - begun} ms`),
      checkClock(headerOf(response, "date"), begun, ended)
    ] as const
  })

const versionOf = (document: unknown) =>
  Predicate.hasProperty(document, "info") && Predicate.hasProperty(document.info, "version")
    ? String(document.info.version)
    : undefined

/** The version of the server, from its document. */
const checkVersion = Effect.fnUntraced(function* (server: ServerUrl) {
  const own = yield* Version
  const { call } = yield* clientWith(server, Option.none())
  return yield* Effect.match(
    call("system", (api) => api.openApi({})),
    {
      onFailure: (failure) => failed("server", failure),
      onSuccess: (document) => {
        const version = versionOf(document)
        if (version === undefined) return warning("server", "it does not report its version; check the address")
        return version === own
          ? ok("server", `coffer ${version}`)
          : warning("server", `coffer ${version}, and this client is ${own}; update the older one`)
      }
    }
  )
})

/** Checks the health and the version that the server reports to everyone. Fails with the connection's problem. */
export const checkServer = (server: ServerUrl) =>
  Effect.zipWith(checkHealth(server), checkVersion(server), (health, version): ReadonlyArray<Finding> => [
    ...health,
    version
  ])

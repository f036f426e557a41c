import { ServerUnreachable } from "@coffer/client/internal/ClientErrors"
import { consoleClients } from "@coffer/client/internal/ApiClient"
import { makeExchange } from "@coffer/client/internal/Exchange"
import { RequestFailed, type Send } from "@coffer/client/internal/Send"
import { callsOf } from "@coffer/client/internal/TypedCalls"
import * as Effect from "effect/Effect"
import * as FiberRef from "effect/FiberRef"
import { noteResponse, noteSilence } from "../state/Connection.js"
import { noteServerTime } from "../state/ServerTime.js"
import { takeBegun } from "./Begun.js"
import { ifChanged, keepUnchanged } from "./Unchanged.js"

const url = location.origin

const unreachable = (reason: string) => {
  noteSilence()
  return new ServerUnreachable({ url, reason, transient: true, answered: false })
}

/** The groups of the contract that the console calls. */
export type CalledGroup = keyof ReturnType<typeof consoleClients>

/** Receives the path of each request of a call. */
export const notePath = FiberRef.unsafeMake<(path: string) => void>(() => {})

const fetchOnce: Send = (request) =>
  Effect.tryPromise({
    try: async (signal) => {
      const { body, method, url } = request
      const headers = ifChanged(request)
      const sent = () => fetch(url, { method, headers, signal, ...(body !== undefined && { body: body.slice() }) })
      const response = (method === "GET" ? await takeBegun(url.href) : undefined) ?? (await sent())
      noteServerTime(response.headers.get("date"))
      return keepUnchanged(request, {
        status: response.status,
        headers: Object.fromEntries(response.headers),
        body: new Uint8Array(await response.arrayBuffer())
      })
    },
    catch: (cause) => new RequestFailed({ cause, answered: false })
  })

const send: Send = (request) =>
  Effect.flatMap(FiberRef.get(notePath), (note) => {
    note(request.url.pathname)
    return fetchOnce(request)
  })

const exchange = makeExchange({
  url,
  send,
  // The cookie of the session counts only with this header.
  headers: Effect.succeed({ "x-coffer": "1" }),
  unreachable: () => unreachable("the connection failed"),
  noResponseWithin: (seconds) => unreachable(`no response within ${seconds} s`),
  noteStatus: noteResponse
})

/** A call without regard to the session. Pages use `call` of `Calls.ts`. */
export const plainCall = callsOf(consoleClients, exchange)

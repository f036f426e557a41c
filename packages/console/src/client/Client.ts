import { groupClients } from "@coffer/domain/client/ApiClient"
import { ServerUnreachable } from "@coffer/domain/client/ClientErrors"
import { exchange } from "@coffer/domain/client/Exchange"
import { typedCalls } from "@coffer/domain/client/TypedCalls"
import * as FetchHttpClient from "@effect/platform/FetchHttpClient"
import * as HttpClient from "@effect/platform/HttpClient"
import * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { noteResponse, noteSilence } from "../state/Connection.js"

const url = location.origin

const unreachable = (reason: string) => {
  noteSilence()
  return new ServerUnreachable({ url, reason, transient: true, answered: false })
}

const fetching = Effect.runSync(
  Effect.scoped(Effect.map(Layer.build(FetchHttpClient.layer), Context.get(HttpClient.HttpClient)))
)

const httpClient = exchange(
  // The cookie of the session counts only with this header.
  fetching.pipe(HttpClient.mapRequest(HttpClientRequest.setHeader("x-coffer", "1"))),
  {
    url,
    unreachable: () => unreachable("the connection failed"),
    noResponseWithin: (seconds) => unreachable(`no answer within ${seconds} s`),
    noteStatus: noteResponse
  }
)

/** A call without regard to the session. Pages use `call` of `Calls.ts`. */
export const plainCall = typedCalls(groupClients({ httpClient, baseUrl: url }))

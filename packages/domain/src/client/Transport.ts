import * as HttpClient from "@effect/platform/HttpClient"
import type { HttpClientError } from "@effect/platform/HttpClientError"
import * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import type { ClientError } from "./ClientErrors.js"
import { noResponseWithin, serverUnreachable } from "./ConnectionProblem.js"
import type { Credential } from "./Credentials.js"
import { exchange } from "./Exchange.js"
import type { ServerUrl } from "./ServerUrl.js"

const withCredential = (credential: Credential) =>
  credential.type === "api_key"
    ? HttpClientRequest.setHeader("x-api-key", Redacted.value(credential.secret))
    : HttpClientRequest.bearerToken(credential.secret)

const noteRefusal = (status: number, credential: Option.Option<Credential>) => {
  if (status === 401 && Option.isSome(credential) && credential.value.type === "federated") credential.value.expire()
}

/** Wraps an HTTP client for one server: adds the credential and rejects redirects. Otherwise as `exchange`. */
export const transport = (
  client: HttpClient.HttpClient,
  options: {
    readonly server: ServerUrl
    readonly credential: Option.Option<Credential>
    readonly program: string
    readonly version: string
  }
): HttpClient.HttpClient.With<ClientError | HttpClientError> => {
  const url = options.server.base
  return exchange(
    client.pipe(
      HttpClient.mapRequest(
        HttpClientRequest.setHeaders({
          "user-agent": `coffer/${options.version}`,
          "x-coffer-client": options.program
        })
      ),
      Option.match(options.credential, {
        onNone: () => HttpClient.mapRequest((request) => request),
        onSome: (credential) =>
          // If the renewal fails, the server's response says that the session has ended.
          HttpClient.mapRequestEffect((request) =>
            Effect.zipRight(
              credential.type === "federated" ? Effect.ignore(credential.refresh) : Effect.void,
              Effect.sync(() => withCredential(credential)(request))
            )
          )
      })
    ),
    {
      url,
      unreachable: ({ cause }) => serverUnreachable(url, cause),
      noResponseWithin: (seconds) => noResponseWithin(url, seconds),
      noteStatus: (status) => noteRefusal(status, options.credential)
    }
  )
}

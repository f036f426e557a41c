import * as Context from "effect/Context"
import * as Data from "effect/Data"
import type * as Effect from "effect/Effect"
import type { IncomingMessage } from "node:http"

export interface HttpRequest {
  readonly url: URL
  readonly method: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: Uint8Array
  /** The rest of a longer response is not read. */
  readonly maxBytes?: number
  /** Takes the body of a response while it comes, and returns true; else it is read whole. */
  readonly take?: (response: IncomingMessage) => boolean
}

export interface HttpResponse {
  readonly status: number
  /** By lowercase names. */
  readonly headers: Readonly<Record<string, string | ReadonlyArray<string> | undefined>>
  readonly body: Uint8Array
  /** The proxy that the response came through, if the proxy could have written it. */
  readonly proxy?: string
}

/** No response came, or an incomplete one. */
export class RequestFailed extends Data.TaggedError("RequestFailed")<{
  readonly cause: unknown
  /** Whether the response had begun. */
  readonly answered: boolean
  /** A variable that names a proxy, which this version of Node does not use. */
  readonly ignoredProxy?: string
}> {}

/** Whether a request keeps the process alive until its end. */
export class Held extends Context.Reference<Held>()("@coffer/client/Held", { defaultValue: () => true }) {}

/** Sends a request. Redirects are not followed; the body of the response is read whole. */
export type Send = (request: HttpRequest) => Effect.Effect<HttpResponse, RequestFailed>

/** Returns a header of a response; the first one, if it is repeated. */
export const headerOf = ({ headers }: HttpResponse, name: string): string | undefined => {
  const found = headers[name]
  return typeof found === "string" ? found : found?.[0]
}

const decoder = new TextDecoder()

/** Returns the body of a response as text. */
export const textOf = ({ body }: HttpResponse): string => decoder.decode(body)

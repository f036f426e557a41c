import { isPlainUrl } from "@coffer/domain/base/PlainUrl"
import { Overloaded, ValidationError } from "@coffer/domain/errors/Errors"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { makeFairSemaphore } from "../../base/FairSemaphore.js"
import { Outbound, type OutboundResponse } from "../../base/outbound/Outbound.js"
import { sharedBounds } from "../../base/SharedBounds.js"
import { type Program, programName } from "./Program.js"
import { isRedirectUri } from "./RedirectUri.js"

const timeout = "5 seconds"
const maxBytes = 5 * 1024
const longestId = 512
const dayMillis = 24 * 60 * 60_000
const maxKept = 500
/** How long a fetch waits for those before, each of which takes 5 seconds at most. */
const patience = "4 seconds"

const overloaded = new Overloaded({
  message: "too many documents of programs are fetched: try again in 1 second",
  retryAfter: 1
})

/**
 * The document of a client id that is an address (draft-ietf-oauth-client-id-metadata-document-00, section 4). A secret of all who can
 * read it would be none: only public clients.
 */
const Document = Schema.parseJson(
  Schema.Struct({
    client_id: Schema.String,
    redirect_uris: Schema.Array(Schema.String),
    client_name: Schema.optional(Schema.String),
    token_endpoint_auth_method: Schema.optional(Schema.String),
    client_secret: Schema.optional(Schema.Unknown)
  })
)

/** Whether a client id is an address as the draft allows it: https, with a path, in its only spelling. */
export const isDocumentAddress = (id: string): boolean =>
  id.length <= longestId &&
  id.startsWith("https://") &&
  isPlainUrl(id) &&
  new URL(id).href === id &&
  new URL(id).pathname !== "/"

const refused = (id: string, why: string) =>
  new ValidationError({ message: `client_id: the document at ${new URL(id).host} cannot be used: ${why}` })

const headerOf = ({ headers }: OutboundResponse, name: string): string => {
  const value = headers[name]
  return typeof value === "string" ? value : ""
}

/** For how many milliseconds a response may be kept (RFC 9111): only as long as it says, and a day at most. */
export const keptMillis = (cacheControl: string): number => {
  if (/\bno-(?:store|cache)\b/i.test(cacheControl)) return 0
  const seconds = Number(/\bmax-age=(\d{1,9})\b/i.exec(cacheControl)?.[1] ?? 0)
  return Math.min(seconds * 1_000, dayMillis)
}

/** Reads the program of a document. */
const programOf = (id: string, answer: OutboundResponse): Effect.Effect<Program, ValidationError> =>
  Effect.gen(function* () {
    if (answer.status !== 200) return yield* refused(id, `its status is ${answer.status}, and must be 200`)
    if (answer.truncated) return yield* refused(id, `it is larger than ${maxBytes} bytes`)
    if (!/^application\/(?:[a-z0-9.+-]+\+)?json\s*(?:;|$)/i.test(headerOf(answer, "content-type"))) {
      return yield* refused(id, "it is not JSON")
    }
    const found = yield* Effect.mapError(
      Schema.decodeUnknown(Document)(Buffer.from(answer.body).toString("utf8")),
      () => refused(id, "it does not describe a client: client_id and redirect_uris are required")
    )
    if (found.client_id !== id) return yield* refused(id, "its client_id is another one")
    const { client_secret, token_endpoint_auth_method: how = "none" } = found
    if (client_secret !== undefined || how !== "none") return yield* refused(id, "it is not a public client")
    const redirectUris = found.redirect_uris.filter(isRedirectUri)
    const { host } = new URL(id)
    return { id, name: programName(found.client_name, host), host, redirectUris }
  })

/** The programs that documents at their addresses describe, fetched by the guard of outbound requests. */
export class ClientDocuments extends Effect.Service<ClientDocuments>()("@coffer/server/ClientDocuments", {
  effect: Effect.gen(function* () {
    const outbound = yield* Outbound
    const slots = makeFairSemaphore(sharedBounds.clientDocuments)
    const kept = new Map<string, { readonly program: Program; readonly until: number }>()

    /** Monotonic, so that setting the clock back keeps no document for longer. */
    const millis = Effect.map(Clock.currentTimeNanos, (nanos) => Number(nanos / 1_000_000n))

    const keep = (program: Program, until: number) => {
      kept.delete(program.id)
      kept.set(program.id, { program, until })
      const [oldest] = kept.keys()
      if (kept.size > maxKept && oldest !== undefined) kept.delete(oldest)
    }

    return {
      find: (id: string): Effect.Effect<Program, ValidationError> =>
        Effect.gen(function* () {
          const now = yield* millis
          const known = kept.get(id)
          if (known !== undefined && known.until > now) return known.program
          const answer = yield* Effect.timeoutFail(slots.scoped, {
            duration: patience,
            onTimeout: () => overloaded
          }).pipe(
            Effect.orDie,
            Effect.zipRight(outbound.request({ url: id, headers: { accept: "application/json" }, timeout, maxBytes })),
            Effect.scoped,
            Effect.mapError(({ message }) => refused(id, message))
          )
          const program = yield* programOf(id, answer)
          const lasts = keptMillis(headerOf(answer, "cache-control"))
          if (lasts > 0) keep(program, now + lasts)
          return program
        })
    } as const
  }),
  dependencies: [Outbound.Default]
}) {}

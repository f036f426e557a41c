import type { CurrentCaller } from "@coffer/domain/access/Actor"
import type { EnvPath } from "@coffer/domain/api/Paths"
import type { StoreField } from "@coffer/domain/secrets/StoreField"
import type { UseResponse } from "@coffer/domain/secrets/UseRequest"
import type * as Array from "effect/Array"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import type { Place } from "../../access/Access.js"
import { makeFairSemaphore } from "../../base/FairSemaphore.js"
import { Outbound, OutboundError, type OutboundResponse } from "../../base/outbound/Outbound.js"
import { sharedBounds } from "../../base/SharedBounds.js"
import type { PermittedSecret } from "./PermittedSecret.js"
import { type Outgoing, signaturesIn } from "./Placement.js"
import { maxSearched, type NotStored, type Stored, type StoredFields } from "./StoredFields.js"
import { bytesToRead, responseOf, strictest, type Withheld, withheldSentences } from "./UpstreamResponse.js"

/** The facts of a response that the log has. */
export interface Outcome {
  readonly response: Pick<UseResponse, "scrubbed" | "status" | "stored" | "truncated">
  readonly bytes: number
}

type Sent = {
  readonly response: UseResponse
  readonly bytes: number
}

/** A request that may leave: its entry is committed. */
export interface PreparedUse {
  readonly place: Place<"secret.use">
  readonly path: EnvPath
  readonly host: string
  readonly granted: Array.NonEmptyReadonlyArray<PermittedSecret>
  readonly outgoing: Outgoing
  readonly store: StoreField | undefined
}

export type UseFailure = OutboundError | Withheld | NotStored

export const reasonOf = (failure: UseFailure) => (typeof failure === "string" ? failure : failure.reason)

export const sentenceOf = (failure: UseFailure) =>
  typeof failure === "string" ? withheldSentences[failure] : failure.message

/** Shorter values shred a response, and longer ones take too much memory to look for: it is not shown then. */
const isSearchable = (value: Redacted.Redacted) => {
  const { length } = Redacted.value(value)
  return length >= 8 && length <= 8_192
}

/** How long the scrub of a response takes at most, of which a field was stored. */
const scrubMillis = 10_000

const timedOut = new OutboundError({ reason: "timeout" })

/** Sends requests that may leave. */
export const makeUseSending = (storedFields: StoredFields) =>
  Effect.gen(function* () {
    const outbound = yield* Outbound
    // Each takes up to 60 MiB of memory meanwhile.
    const scrubs = makeFairSemaphore(sharedBounds.scrubs)

    /** Sends a request, and makes the response for the caller. */
    const send = (
      { granted, host, outgoing, path, store }: PreparedUse,
      timeout: number
    ): Effect.Effect<Sent, UseFailure, CurrentCaller> => {
      const used = granted.flatMap(({ parts, value }) => [value, ...parts]).map(Redacted.value)
      const signatures = granted.flatMap(({ terms }) => signaturesIn(outgoing, terms.place))
      const values = [...used, ...signatures]
      const terms = strictest(granted.map(({ terms }) => terms))
      const { body, headers, url } = outgoing
      const shown = bytesToRead(terms.max_kib, values)
      const sent = outbound
        .request({
          url,
          method: outgoing.method,
          headers,
          ...(body !== null && { body }),
          timeout,
          maxBytes: store === undefined ? shown : Math.max(shown, maxSearched)
        })
        // The limit of the request ends with its last byte; this one covers decompression and the scrub too.
        .pipe(Effect.timeoutFail({ duration: timeout, onTimeout: () => timedOut }))

      const answerOf = (upstream: OutboundResponse, stored: Stored | null): Effect.Effect<Sent, Withheld> => {
        const bytes = upstream.body.length
        if (stored === null) {
          return Effect.map(scrubs.inside(responseOf(upstream, values, terms)), (response) => ({ response, bytes }))
        }
        const { key, value, version } = stored
        const response = isSearchable(value)
          ? scrubs.inside(responseOf(upstream, [...values, Redacted.value(value)], terms))
          : Effect.succeed({ status: upstream.status, headers: {}, truncated: true, scrubbed: 0 })
        return Effect.map(response, (shown) => ({ response: { ...shown, stored: { key, version } }, bytes }))
      }

      if (store === undefined) {
        return Effect.flatMap(sent, (upstream) => answerOf(upstream, null)).pipe(
          Effect.timeoutFail({ duration: timeout, onTimeout: () => timedOut })
        )
      }
      // A response that has come is stored, whether its caller still waits or not: its provider may not repeat it.
      return Effect.uninterruptibleMask((restore) =>
        Effect.gen(function* () {
          const upstream = yield* restore(sent)
          const isDone = upstream.status >= 200 && upstream.status < 300
          const stored = isDone ? yield* storedFields.store(path, store, upstream, host) : null
          const answer = Effect.timeoutFail(answerOf(upstream, stored), {
            duration: scrubMillis,
            onTimeout: () => timedOut
          })
          return yield* restore(answer)
        })
      )
    }

    return send
  })

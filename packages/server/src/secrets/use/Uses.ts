import { type CurrentCaller, currentActor } from "@coffer/domain/access/Actor"
import { BrokerDisabled, Overloaded, UpstreamFailed, type UseBudget, UseRefused } from "@coffer/domain/errors/Errors"
import type { EnvPath } from "@coffer/domain/api/Paths"
import type { StoreField } from "@coffer/domain/secrets/StoreField"
import type { UseRequest, UseResponse } from "@coffer/domain/secrets/UseRequest"
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import * as Array from "effect/Array"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Exit from "effect/Exit"
import * as Metric from "effect/Metric"
import * as Redacted from "effect/Redacted"
import { Access, type Place, sourceOf } from "../../access/Access.js"
import { AuditLog } from "../../audit/AuditLog.js"
import { ServerConfig } from "../../base/Config.js"
import { outcomeOf } from "../../database/Database.js"
import { makeFairSemaphore } from "../../base/FairSemaphore.js"
import { sharedBounds } from "../../base/SharedBounds.js"
import { Outbound, type OutboundResponse, OutboundError, targetOf as urlOf } from "../../base/outbound/Outbound.js"
import { method } from "../../base/tracing/Traced.js"
import { bytesToRead, responseOf, strictest, type Withheld, withheldSentences } from "./UpstreamResponse.js"
import type { PermittedSecret } from "./PermittedSecret.js"
import { UsePermits } from "./UsePermits.js"
import { Changes } from "../services/Changes.js"
import { targetOf } from "../use-rules/Match.js"
import { type Outgoing, placed, signaturesIn, signed } from "./Placement.js"
import { outgoingHeaders } from "./OutgoingHeaders.js"
import { makeSlots, makeStreamSlots } from "./Slots.js"
import { makeStoredFields, maxSearched, type NotStored, type Stored } from "./StoredFields.js"
import { streamedResponse } from "./StreamedResponse.js"
import { type RefusalReason, upstreamFailures, useRefusals, usesMade } from "./UseMetrics.js"

/** How long a use takes at most: waiting, granting, the request, and the scrub of its response. */
const patienceMillis = 30_000

/** A stream holds its search for minutes, which takes about 1 KiB for each byte of the values. Longer ones come whole. */
const maxStreamedValues = 2_048

/** Returns the milliseconds that are left until a time. */
const until = (deadline: number) => Effect.map(Clock.currentTimeMillis, (now) => Math.max(0, deadline - now))

const notSent = new Overloaded({
  message: "the request was not sent in time, and nothing was changed: try again in 1 second",
  retryAfter: 1
})

/** Fails with Overloaded at the deadline. */
const inTime =
  (deadline: number) =>
  <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E | Overloaded, R> =>
    Effect.flatMap(until(deadline), (left): Effect.Effect<A, E | Overloaded, R> =>
      left === 0 ? notSent : Effect.timeoutFail(effect, { duration: left, onTimeout: () => notSent })
    )

const refused = (message: string) => new UseRefused({ message })

const bodyOf = ({ body, body_base64 }: UseRequest): Either.Either<Uint8Array | null, string> => {
  if (body !== undefined && body_base64 !== undefined) return Either.left("give body or body_base64, not both")
  if (body_base64 !== undefined) return Either.right(Buffer.from(body_base64, "base64"))
  return Either.right(body === undefined ? null : Buffer.from(body))
}

/** The request as far as the caller decides it. */
const askedOf = (request: UseRequest) =>
  Effect.gen(function* () {
    const { method, url } = request
    const parsed = yield* Effect.mapError(urlOf(url), ({ message }) => refused(message))
    const headers = yield* Either.mapLeft(outgoingHeaders(request.headers ?? {}), refused)
    const body = yield* Either.mapLeft(bodyOf(request), refused)
    if (body !== null && (method === "GET" || method === "HEAD")) return yield* refused(`${method} has no body`)
    if (request.store !== undefined && request.stream === true) {
      return yield* refused("give store or stream, not both: a field is stored of a response that has come whole")
    }
    const target = yield* Either.mapLeft(targetOf(url, parsed, method), refused)
    return { method, url, headers, body, target, store: request.store }
  })

/** Puts all values where their rules say; a signature comes last. */
const outgoingOf = (asked: Outgoing, granted: ReadonlyArray<PermittedSecret>): Effect.Effect<Outgoing, UseRefused> =>
  Effect.gen(function* () {
    let outgoing = asked
    for (const { key, terms, value } of granted) {
      if (terms.place.in === "aws-sigv4") continue
      outgoing = yield* Either.mapLeft(placed(outgoing, terms.place, Redacted.value(value)), (wrong) =>
        refused(`${key}: ${wrong}`)
      )
    }
    for (const { key, terms, value } of granted) {
      if (terms.place.in !== "aws-sigv4") continue
      outgoing = yield* Effect.mapError(signed(outgoing, terms.place, Redacted.value(value)), (wrong) =>
        refused(`${key}: ${wrong}`)
      )
    }
    return outgoing
  })

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
interface Prepared {
  readonly place: Place<"secret.use">
  readonly path: EnvPath
  readonly host: string
  readonly granted: Array.NonEmptyReadonlyArray<PermittedSecret>
  readonly outgoing: Outgoing
  readonly store: StoreField | undefined
}

type Failure = OutboundError | Withheld | NotStored

const reasonOf = (failure: Failure) => (typeof failure === "string" ? failure : failure.reason)

const sentenceOf = (failure: Failure) => (typeof failure === "string" ? withheldSentences[failure] : failure.message)

/** Shorter values shred a response, and longer ones take too much memory to look for: it is not shown then. */
const isSearchable = (value: Redacted.Redacted) => {
  const { length } = Redacted.value(value)
  return length >= 8 && length <= 8_192
}

/** How long the scrub of a response takes at most, of which a field was stored. */
const scrubMillis = 10_000

const failedUpstream = (host: string, reason: string) =>
  new UpstreamFailed({ message: `${host}: ${reason}; the request may have had its effect` })

/** Makes requests with secrets for callers that are never given the values. */
export class Uses extends Effect.Service<Uses>()("@coffer/server/Uses", {
  effect: Effect.gen(function* () {
    const access = yield* Access
    const permits = yield* UsePermits
    const outbound = yield* Outbound
    const audit = yield* AuditLog
    const { broker, brokerUrl } = yield* ServerConfig
    const inSlot = yield* makeSlots
    const streamSlots = yield* makeStreamSlots
    const storedFields = yield* makeStoredFields
    // Each takes up to 60 MiB of memory meanwhile.
    const scrubs = makeFairSemaphore(sharedBounds.scrubs)

    const enabled = broker
      ? Effect.void
      : new BrokerDisabled({
          message:
            brokerUrl === null
              ? "this server makes no requests with secrets: an operator has to set SERVICE_BROKER=1"
              : `this server makes no requests with secrets: send this one to ${brokerUrl}`
        })

    const timedOut = new OutboundError({ reason: "timeout" })

    /** Sends a request, and makes the response for the caller. */
    const send = (
      { granted, host, outgoing, path, store }: Prepared,
      timeout: number
    ): Effect.Effect<Sent, Failure, CurrentCaller> => {
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

    /** Writes the entry for the outcome of a sent request. */
    const recordResponse = (
      place: Place<"secret.use">,
      granted: Array.NonEmptyReadonlyArray<PermittedSecret>,
      exit: Exit.Exit<Outcome, Failure>
    ) => {
      const outcome = Exit.match(exit, {
        onSuccess: ({ bytes, response: { scrubbed, status, stored, truncated } }) => ({
          status,
          response_bytes: bytes,
          truncated,
          scrubbed,
          ...(stored !== undefined && { stored: stored.key })
        }),
        onFailure: (cause) => ({
          failed:
            cause._tag === "Fail"
              ? typeof cause.error === "string"
                ? `withheld: ${cause.error}`
                : cause.error.reason
              : "interrupted"
        })
      })
      const [first, ...rest] = Array.map(granted, ({ key, rule, secretId }) => ({
        action: "secret.answer" as const,
        resource_type: "secret" as const,
        resource_id: secretId,
        metadata: { key, rule: rule.id, ...outcome }
      }))
      return audit.seen(sourceOf(place), first, ...rest)
    }

    /** Counts and records a refusal. In a transaction, its entry is written after the end. */
    const recordRefusal = (
      place: Place<"secret.use">,
      { method, secrets }: UseRequest,
      reason: RefusalReason,
      host?: string
    ) => {
      const [key, ...others] = secrets
      const keys = others.length === 0 ? { key } : { keys: secrets.map((one) => ({ key: one })) }
      return Effect.zipRight(
        Metric.increment(useRefusals(reason)),
        audit.refused(sourceOf(place), {
          action: "access.denied",
          resource_type: "env",
          resource_id: place.env.id,
          metadata: { action: "secret.use", ...keys, ...(host !== undefined && { host }), method, reason }
        })
      )
    }

    /** Refuses a request before its transaction. */
    const refuse = <E extends UseBudget | UseRefused>(
      path: EnvPath,
      request: UseRequest,
      reason: RefusalReason,
      refusal: E
    ) =>
      access
        .env(path, "secret.use", "some")
        .pipe(Effect.flatMap((place) => Effect.zipRight(recordRefusal(place, request, reason), Effect.fail(refusal))))

    /** Grants a request and commits its entry: it can leave then. */
    const prepare = (path: EnvPath, request: UseRequest, deadline: number) =>
      Effect.gen(function* () {
        const { target, ...asked } = yield* Effect.catchTag(askedOf(request), "UseRefused", (refusal) =>
          refuse(path, request, "request", refusal)
        )
        const [firstKey, ...otherKeys] = request.secrets
        if (firstKey === undefined) return yield* refused("name at least one secret")
        const changing = access.change(access.env(path, "secret.use", "some"), (place) => {
          const recorded = (reason: RefusalReason) => () => recordRefusal(place, request, reason, target.host)
          return Effect.gen(function* () {
            const decision = yield* permits.permit(place, { ...asked, target, secrets: [firstKey, ...otherKeys] })
            // Before the commit: what cannot be sent must not be counted.
            if (!("refusal" in decision)) {
              const { granted } = decision
              const outgoing = yield* outgoingOf(asked, granted)
              if (asked.store !== undefined) yield* storedFields.rehearse(path, asked.store)
              return Effect.succeed({ place, granted, outgoing })
            }
            if (decision.refusal._tag === "ApprovalNeeded") yield* Metric.increment(useRefusals("approval"))
            else yield* recorded("approval")()
            return Effect.fail(decision.refusal)
          }).pipe(
            inTime(deadline),
            Effect.tapErrorTag("UseRefused", recorded("rule")),
            Effect.tapErrorTag("UseBudget", recorded("budget"))
          )
        })
        const prepared = yield* outcomeOf(changing)
        yield* Metric.increment(usesMade)
        const permitted: Prepared = { ...prepared, host: target.host, path, store: asked.store }
        return permitted
      })

    const answer = (prepared: Prepared, deadline: number) =>
      Effect.gen(function* () {
        const { granted, host, place } = prepared
        const { response } = yield* send(prepared, yield* until(deadline)).pipe(
          Effect.onExit((exit) => recordResponse(place, granted, exit)),
          Effect.tapError((failure) => Metric.increment(upstreamFailures(reasonOf(failure)))),
          Effect.mapError((failure) => failedUpstream(host, sentenceOf(failure)))
        )
        return response
      })

    const make = (path: EnvPath, request: UseRequest, deadline: number) =>
      Effect.flatMap(prepare(path, request, deadline), (prepared) => answer(prepared, deadline))

    const makeStream = (path: EnvPath, request: UseRequest, deadline: number) =>
      Effect.gen(function* () {
        const prepared = yield* prepare(path, request, deadline)
        const { granted, host, outgoing, place } = prepared
        const values = granted.flatMap(({ parts, value }) => [value, ...parts]).map(Redacted.value)
        const signatures = granted.flatMap(({ terms }) => signaturesIn(outgoing, terms.place))
        const isStream = granted.every(({ terms }) => terms.response === "stream")
        if (!isStream || values.reduce((sum, value) => sum + value.length, 0) > maxStreamedValues) {
          return yield* answer(prepared, deadline)
        }
        const { id } = yield* currentActor
        const body = streamedResponse({
          open: outbound.open({
            url: outgoing.url,
            method: outgoing.method,
            headers: outgoing.headers,
            ...(outgoing.body !== null && { body: outgoing.body }),
            timeout: patienceMillis
          }),
          values: [...values, ...signatures],
          maxBytes: strictest(granted.map(({ terms }) => terms)).max_kib * 1024,
          sentence: (failure) => failedUpstream(host, sentenceOf(failure)).message,
          record: (exit) => recordResponse(place, granted, exit),
          enter: streamSlots(id)
        })
        return HttpServerResponse.stream(body, { contentType: "application/x-ndjson" })
      })

    /** Makes a request whose response is passed on while it comes, if its rules say so. */
    const stream = method("Uses.stream", function* (path: EnvPath, request: UseRequest) {
      yield* enabled
      const { id } = yield* currentActor
      const deadline = (yield* Clock.currentTimeMillis) + patienceMillis
      return yield* inSlot(id, makeStream(path, request, deadline), (full) =>
        refuse(path, request, "concurrency", full)
      )
    })

    /** Makes a request with secrets. The entry of the audit log is committed before it leaves. */
    const use = method("Uses.use", function* (path: EnvPath, request: UseRequest) {
      yield* enabled
      const { id } = yield* currentActor
      const deadline = (yield* Clock.currentTimeMillis) + patienceMillis
      return yield* inSlot(id, make(path, request, deadline), (full) => refuse(path, request, "concurrency", full))
    })

    return { use, stream, uses: permits.uses } as const
  }),
  dependencies: [UsePermits.Default, Outbound.Default, Changes.Default]
}) {}

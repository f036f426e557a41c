import { currentActor } from "@coffer/domain/access/Actor"
import {
  BrokerDisabled,
  Overloaded,
  UpstreamFailed,
  type UseBudget,
  type UseRefused
} from "@coffer/domain/errors/Errors"
import type { EnvPath } from "@coffer/domain/api/Paths"
import type { UseRequest } from "@coffer/domain/secrets/UseRequest"
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Metric from "effect/Metric"
import * as Redacted from "effect/Redacted"
import { Access } from "../../access/Access.js"
import { ServerConfig } from "../../base/Config.js"
import { outcomeOf } from "../../database/Database.js"
import { Outbound } from "../../base/outbound/Outbound.js"
import { method } from "../../base/tracing/Traced.js"
import { streamBytes } from "./UpstreamResponse.js"
import { askedOf, outgoingOf, refused } from "./AskedRequest.js"
import { useEntries } from "./UseEntries.js"
import { makeUseSending, type PreparedUse, reasonOf, sentenceOf } from "./UseSending.js"
import { UsePermits } from "./UsePermits.js"
import { Changes } from "../services/Changes.js"
import { signaturesIn } from "./Placement.js"
import { makeSlots, makeStreamSlots } from "./Slots.js"
import { makeStoredFields } from "./StoredFields.js"
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

const failedUpstream = (host: string, reason: string) =>
  new UpstreamFailed({ message: `${host}: ${reason}; the request may have had its effect` })

/** Makes requests with secrets for callers that are never given the values. */
export class Uses extends Effect.Service<Uses>()("@coffer/server/Uses", {
  effect: Effect.gen(function* () {
    const access = yield* Access
    const permits = yield* UsePermits
    const outbound = yield* Outbound
    const { recordRefusal, recordResponse } = yield* useEntries
    const { broker, brokerUrl } = yield* ServerConfig
    const inSlot = yield* makeSlots
    const streamSlots = yield* makeStreamSlots
    const storedFields = yield* makeStoredFields
    const send = yield* makeUseSending(storedFields)

    const enabled = broker
      ? Effect.void
      : new BrokerDisabled({
          message:
            brokerUrl === null
              ? "this server makes no requests with secrets: an operator has to set SERVICE_BROKER=1"
              : `this server makes no requests with secrets: send this one to ${brokerUrl}`
        })

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
        const permitted: PreparedUse = { ...prepared, host: target.host, path, store: asked.store }
        return permitted
      })

    const answer = (prepared: PreparedUse, deadline: number) =>
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
          maxBytes: streamBytes(granted.map(({ terms }) => terms)),
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

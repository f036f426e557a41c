import { CurrentActor } from "@coffer/domain/Actor"
import { BrokerDisabled, UpstreamFailed, UseRefused } from "@coffer/domain/Errors"
import type { EnvPath } from "@coffer/domain/api/Paths"
import type { UseRequest, UseResponse } from "@coffer/domain/UseRequest"
import { Array, Effect, Either, Exit, Metric, Redacted } from "effect"
import { Access, type Place, sourceOf } from "../../access/Access.js"
import { AuditLog } from "../../audit/AuditLog.js"
import { ServerConfig } from "../../base/Config.js"
import { Outbound, type OutboundAnswer, OutboundError, targetOf as urlOf } from "../../base/outbound/Outbound.js"
import { traced } from "../../base/tracing/Traced.js"
import { bytesToRead, responseOf, strictest, type Withheld, withheldSentences } from "./Answer.js"
import { type Granted, Grants } from "./Grants.js"
import { targetOf } from "../use-rules/Match.js"
import { type Outgoing, placed, signed } from "./Placement.js"
import { outgoingHeaders } from "./RequestHeaders.js"
import { makeSlots } from "./Slots.js"
import { type RefusalReason, upstreamFailures, useRefusals, usesMade } from "./UseMetrics.js"

const patience = "30 seconds"

const refused = (message: string) => new UseRefused({ message })

const countRefusal = (reason: RefusalReason) => () => Metric.increment(useRefusals(reason))

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
    const target = yield* Either.mapLeft(targetOf(url, parsed, method), refused)
    return { method, url, headers, body, target }
  })

/** Puts all values where their rules say; a signature comes last. */
const outgoingOf = (asked: Outgoing, granted: ReadonlyArray<Granted>): Effect.Effect<Outgoing, UseRefused> =>
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

type Sent = {
  readonly response: UseResponse
  readonly bytes: number
}

const failedUpstream = (host: string, reason: string) =>
  new UpstreamFailed({ message: `${host}: ${reason}; the request may have had its effect` })

/** Makes requests with secrets for callers that are never given the values. */
export class Uses extends Effect.Service<Uses>()("@coffer/server/Uses", {
  effect: Effect.gen(function* () {
    const access = yield* Access
    const grants = yield* Grants
    const outbound = yield* Outbound
    const audit = yield* AuditLog
    const { broker, brokerUrl } = yield* ServerConfig
    const inSlot = yield* makeSlots

    const enabled = broker
      ? Effect.void
      : new BrokerDisabled({
          message:
            brokerUrl === null
              ? "this server makes no requests with secrets: an operator has to set SERVICE_BROKER=1"
              : `this server makes no requests with secrets: send this one to ${brokerUrl}`
        })

    /** Sends a request, and makes the response of its answer. */
    const send = (outgoing: Outgoing, granted: ReadonlyArray<Granted>) =>
      Effect.gen(function* () {
        const values = granted.flatMap(({ parts, value }) => [value, ...parts]).map(Redacted.value)
        const terms = strictest(granted.map(({ terms }) => terms))
        const { body, headers, url } = outgoing
        const answer: OutboundAnswer = yield* outbound.request({
          url,
          method: outgoing.method,
          headers,
          ...(body !== null && { body }),
          timeout: patience,
          maxBytes: bytesToRead(terms.max_kib, values)
        })
        const response = yield* responseOf(answer, values, terms)
        return { response, bytes: answer.body.length } satisfies Sent
      }).pipe(
        // The limit of the request ends with its last byte; this one covers decompression and the scrub too.
        Effect.timeoutFail({ duration: patience, onTimeout: () => new OutboundError({ reason: "timeout" }) })
      )

    /** The second entry: what came of a request that left. */
    const recordAnswer = (
      place: Place<"secret.use">,
      granted: Array.NonEmptyReadonlyArray<Granted>,
      exit: Exit.Exit<Sent, OutboundError | Withheld>
    ) => {
      const outcome = Exit.match(exit, {
        onSuccess: ({ bytes, response }) => ({
          status: response.status,
          response_bytes: bytes,
          truncated: response.truncated,
          scrubbed: response.scrubbed
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
      return audit.write(sourceOf(place), first, ...rest)
    }

    const make = (path: EnvPath, request: UseRequest) =>
      Effect.gen(function* () {
        const { target, ...asked } = yield* Effect.tapError(askedOf(request), countRefusal("request"))
        const [firstKey, ...otherKeys] = request.secrets
        if (firstKey === undefined) return yield* refused("name at least one secret")
        const { grant, place } = yield* access
          .change(access.env(path, "secret.use"), (place) =>
            Effect.gen(function* () {
              const grant = yield* grants.grant(place, { ...asked, target, secrets: [firstKey, ...otherKeys] })
              // Before the commit: what cannot be sent must not be counted.
              const outgoing = "refusal" in grant ? null : yield* outgoingOf(asked, grant.granted)
              return { place, grant: outgoing === null || "refusal" in grant ? grant : { ...grant, outgoing } }
            })
          )
          .pipe(
            // Outside of the transaction, which may run several times.
            Effect.tapErrorTag("UseRefused", countRefusal("rule")),
            Effect.tapErrorTag("UseBudget", countRefusal("budget"))
          )
        if ("refusal" in grant) return yield* Effect.zipRight(countRefusal("approval")(), Effect.fail(grant.refusal))
        if (!("outgoing" in grant)) return yield* Effect.dieMessage("a request was granted that was not made")
        yield* Metric.increment(usesMade)
        const { response } = yield* send(grant.outgoing, grant.granted).pipe(
          Effect.onExit((exit) => recordAnswer(place, grant.granted, exit)),
          Effect.tapError((failure) =>
            Metric.increment(upstreamFailures(typeof failure === "string" ? failure : failure.reason))
          ),
          Effect.mapError((failure) =>
            failedUpstream(target.host, typeof failure === "string" ? withheldSentences[failure] : failure.message)
          )
        )
        return response
      })

    /** Makes a request with secrets. The entry of the audit log is committed before it leaves. */
    const use = traced("Uses.use")(
      Effect.fnUntraced(function* (path: EnvPath, request: UseRequest) {
        yield* enabled
        const { id } = yield* CurrentActor
        return yield* inSlot(id, make(path, request))
      })
    )

    return { use, uses: grants.uses } as const
  }),
  dependencies: [Grants.Default, Outbound.Default]
}) {}

import type { UseRequest } from "@coffer/domain/secrets/UseRequest"
import * as Array from "effect/Array"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Metric from "effect/Metric"
import { type Place, sourceOf } from "../../access/Access.js"
import { AuditLog } from "../../audit/AuditLog.js"
import type { PermittedSecret } from "./PermittedSecret.js"
import { type RefusalReason, useRefusals } from "./UseMetrics.js"
import type { Outcome, UseFailure } from "./UseSending.js"

/** The entries of uses, beside those of their permits. */
export const useEntries = Effect.map(AuditLog, (audit) => {
  /** Writes the entry for the outcome of a sent request. */
  const recordResponse = (
    place: Place<"secret.use">,
    granted: Array.NonEmptyReadonlyArray<PermittedSecret>,
    exit: Exit.Exit<Outcome, UseFailure>
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

  return { recordRefusal, recordResponse } as const
})

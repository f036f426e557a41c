import { Forbidden } from "@coffer/domain/errors/Errors"
import * as Effect from "effect/Effect"
import type { AuditEvent, AuditSource } from "../../audit/AuditEvent.js"
import type { AuditLog } from "../../audit/AuditLog.js"

/** Records a refusal and fails with Forbidden. */
export const refuse = (
  audit: AuditLog,
  source: AuditSource,
  refusal: Pick<AuditEvent, "resource_type" | "resource_id" | "metadata">,
  message: string,
  scope?: string
): Effect.Effect<never, Forbidden> =>
  Effect.zipRight(
    audit.refused(source, { action: "access.denied", ...refusal }),
    new Forbidden({ message, ...(scope !== undefined && { scope }) })
  )

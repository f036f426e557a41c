import { delegationOf, keysOf } from "@coffer/domain/access/Actor"
import type { Forbidden } from "@coffer/domain/errors/Errors"
import type { SecretKey } from "@coffer/domain/base/Names"
import type { Action } from "@coffer/domain/access/Permissions"
import * as Effect from "effect/Effect"
import type { AuditLog } from "../audit/AuditLog.js"
import { denied, type EnvPlace } from "./Access.js"
import { beyondDelegation } from "./place/Decisions.js"

/** Fails with Forbidden, and records it, if the delegation of the caller is limited to other keys than one of these. */
export const admitKeys = (
  audit: AuditLog,
  place: EnvPlace<Action>,
  keys: Iterable<SecretKey>
): Effect.Effect<void, Forbidden> => {
  const delegation = delegationOf(place.actor)
  if (delegation === null || delegation.keys === null) return Effect.void
  const names = { org: place.org.name, project: place.project.name, env: place.env.name }
  for (const key of keys) {
    const beyond = beyondDelegation(delegation, place.action, names, key)
    if (beyond !== null) return denied(audit, place, beyond)
  }
  return Effect.void
}

/** Those whose keys the credential of the caller may name. */
export const withinKeys = <Row extends { readonly key: SecretKey }>(
  { actor }: EnvPlace<Action>,
  rows: ReadonlyArray<Row>
): ReadonlyArray<Row> => {
  const only = keysOf(actor)
  return only === null ? rows : rows.filter(({ key }) => only.has(key))
}

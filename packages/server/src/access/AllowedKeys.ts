import { delegationOf, keysOf } from "@coffer/domain/access/Actor"
import type { Forbidden } from "@coffer/domain/errors/Errors"
import type { SecretKey } from "@coffer/domain/base/Names"
import type { Action } from "@coffer/domain/access/Permissions"
import * as Effect from "effect/Effect"
import type { AuditLog } from "../audit/AuditLog.js"
import { denied, type EnvPlace } from "./Access.js"
import { beyondDelegation, decide } from "./place/Decisions.js"
import { subjectOf } from "./caller/Subject.js"

const namesOf = ({ env, org, project }: EnvPlace<Action>) => ({ org: org.name, project: project.name, env: env.name })

/** Why the caller may not name a key at a place that it has entered: its delegation or its rules are for others. Null if it may. */
const beyondKeys = (place: EnvPlace<Action>, key: SecretKey): string | null => {
  const delegation = delegationOf(place.actor)
  const beyond = delegation && beyondDelegation(delegation, place.action, namesOf(place), key)
  if (beyond !== null || place.reach === null || place.reach.has(key)) return beyond
  const decision = decide(place.action, subjectOf(place), namesOf(place), { key })
  return decision.allowed ? null : decision.missing
}

/** Fails with Forbidden, and records it, if the caller may not name one of these keys: by its delegation or by its rules. */
export const admitKeys = (
  audit: AuditLog,
  place: EnvPlace<Action>,
  keys: Iterable<SecretKey>
): Effect.Effect<void, Forbidden> => {
  if (keysOf(place.actor) === null && place.reach === null) return Effect.void
  for (const key of keys) {
    const beyond = beyondKeys(place, key)
    if (beyond !== null) return denied(audit, place, beyond)
  }
  return Effect.void
}

/** Whether the caller may name a key at a place that it has entered. */
export const mayName = ({ actor, reach }: EnvPlace<Action>, key: SecretKey): boolean =>
  keysOf(actor)?.has(key) !== false && reach?.has(key) !== false

/** Those whose keys the caller may name. */
export const withinKeys = <Row extends { readonly key: SecretKey }>(
  place: EnvPlace<Action>,
  rows: ReadonlyArray<Row>
): ReadonlyArray<Row> =>
  keysOf(place.actor) === null && place.reach === null ? rows : rows.filter(({ key }) => mayName(place, key))

/** The keys that the caller may name at a place, as a part of ETags: others see something else under the same address. Null: all. */
export const keysTagOf = ({ actor, reach }: EnvPlace<Action>): ReadonlyArray<unknown> | null => {
  const only = keysOf(actor)
  return only === null && reach === null ? null : [only && [...only].sort(), reach?.text ?? null]
}

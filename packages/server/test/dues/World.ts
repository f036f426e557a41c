import type { Actor } from "@coffer/domain/access/Actor"
import { Access } from "@coffer/server/access/Access"
import { type DueRequest, Dues } from "@coffer/server/secrets/dues/Dues"
import { Database } from "@coffer/server/database/Database"
import { Effect } from "effect"
import { asActor, email, enter, envPath, key, orgPath } from "../support/Services.js"

export const day = 24 * 60 * 60 * 1000

/** The time at which the tests begin. */
export const start = Date.UTC(2026, 0, 31, 12)

export const at = (days: number): string => new Date(start + days * day).toISOString()

/** The fields that a test sets. */
interface Given extends Omit<DueRequest, "owner"> {
  readonly owner?: string | null
}

const requestOf = ({ owner, ...request }: Given): DueRequest => ({
  ...request,
  ...(owner !== undefined && { owner: owner === null ? null : email(owner) })
})

export const setDue = (actor: Actor, name: string, given: Given, path = envPath()) =>
  Effect.gen(function* () {
    const dues = yield* Dues
    const { transaction } = yield* Database
    const place = yield* enter(actor, "secret.write", path)
    return yield* transaction(dues.update(place, key(name), requestOf(given)))
  })

export const dueWithin = (actor: Actor, within: string, path = envPath()) =>
  Effect.gen(function* () {
    const dues = yield* Dues
    return yield* dues.listWithin(yield* enter(actor, "secret.list", path), within)
  })

export const dueIn = (
  actor: Actor,
  request: { readonly within?: string; readonly limit?: number; readonly after?: string } = {}
) =>
  Effect.gen(function* () {
    const dues = yield* Dues
    const place = yield* Effect.flatMap(Access, (access) => access.org(orgPath(), "due.list")).pipe(asActor(actor))
    return yield* dues.list(place, request)
  })

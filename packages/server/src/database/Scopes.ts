import type { OrgId, UserId } from "@coffer/domain/base/Ids"
import * as Order from "effect/Order"

/** The kinds of scopes, in the order in which a change locks them. */
const kinds = ["server", "address", "user", "org"] as const
export type ScopeKind = (typeof kinds)[number]

/** A scope that only one change at a time may work on. Rules across its rows then hold on every engine. */
export interface Scope {
  readonly kind: ScopeKind
  readonly id: string
}

/** The scope of data that belongs to no organization: the list of users, and the superadmins. */
export const serverScope: Scope = { kind: "server", id: "" }

/** The logins of an e-mail address, an identity at a provider, or a network, before a user is known. */
export const addressScope = (id: string): Scope => ({ kind: "address", id })

/** The sessions, identities and pending logins of a user. */
export const userScope = (id: UserId): Scope => ({ kind: "user", id })

/** Everything in an organization. */
export const orgScope = (id: OrgId): Scope => ({ kind: "org", id })

export const scopeKey = ({ id, kind }: Scope): string => `${kind} ${id}`

/** The position of the scope's kind in the order of locks, counted from 1. */
export const rankOf = ({ kind }: Scope): number => kinds.indexOf(kind) + 1

const byRank = Order.combine(
  Order.mapInput(Order.number, rankOf),
  Order.mapInput(Order.string, ({ id }: Scope) => id)
)

/** The scopes in the order of locks, each once: changes that need the same scopes cannot deadlock. */
export const inOrder = (scopes: ReadonlyArray<Scope>): ReadonlyArray<Scope> =>
  [...new Map(scopes.map((scope) => [scopeKey(scope), scope])).values()].sort(byRank)

import type { Unauthorized } from "@coffer/domain/errors/Errors"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import type { BlockList } from "node:net"
import { AuditLog } from "../../audit/AuditLog.js"
import { blockListOf, isInside, networkOf } from "../../base/config/Networks.js"
import { RequestInfo } from "../../base/RequestInfo.js"
import type { AccountActorRow } from "./ActorRepo.js"

/** An account with its networks, as the database has them. */
type BoundAccount = Pick<AccountActorRow, "account_id" | "account_name" | "allowed_networks" | "own_org_id">

const networksIn = Schema.decodeSync(Schema.parseJson(Schema.Array(Schema.String)))

const maxLists = 1_000

/** Returns whether an account that is bound to these networks, as the database has them, may not call from an address. */
export const makeOutside = (): ((allowed: string | null, ip: string | null) => boolean) => {
  /** By their text in the database. */
  const lists = new Map<string, BlockList>()
  const listOf = (text: string): BlockList => {
    const known = lists.get(text)
    if (known !== undefined) return known
    if (lists.size >= maxLists) lists.clear()
    const list = blockListOf(networksIn(text).flatMap((network) => Option.toArray(networkOf(network))))
    lists.set(text, list)
    return list
  }
  return (allowed, ip) => allowed !== null && (ip === null || !isInside(listOf(allowed), ip))
}

/**
 * Returns a check of where a service account calls from. It returns null for a caller that may go on, and otherwise an effect that
 * records the address and fails as for an unknown key: whoever found the key must not learn that it is one.
 */
export const makeAccountNetworks = Effect.map(AuditLog, (audit) => {
  const isOutside = makeOutside()
  return (
    { account_id, account_name, allowed_networks, own_org_id }: BoundAccount,
    request: Context.Context<never>,
    refusal: Unauthorized
  ): Effect.Effect<never, Unauthorized> | null => {
    const { ip } = Context.get(request, RequestInfo)
    if (!isOutside(allowed_networks, ip)) return null
    const source = {
      actor: { type: "service_account", id: account_id, name: account_name },
      orgId: own_org_id
    } as const
    return Effect.zipRight(
      audit.refused(source, {
        action: "access.denied",
        resource_type: "service_account",
        resource_id: account_id,
        metadata: {
          action: "service_account.use",
          reason: `its networks do not include ${ip ?? "an unknown address"}`
        }
      }),
      refusal
    )
  }
})

/** The delegations that this machine keeps: they change who a command without a terminal is. */
import type { ServerUrl } from "@coffer/client/internal/ServerUrl"
import { storedDelegations } from "@coffer/client/internal/StoredDelegations"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"

/** A delegation that is kept for a place, as it is shown: without its token. */
export interface ShownDelegation {
  readonly id: string
  readonly name: string
  /** ORG/PROJECT/ENV. */
  readonly place: string
  readonly expires_at: string
  readonly ended: boolean
}

/** The delegations that are stored for a server, those that have ended too. */
export const shownDelegations = Effect.fnUntraced(function* ({ origin }: ServerUrl) {
  const millis = yield* Clock.currentTimeMillis
  return (yield* storedDelegations(origin)).map(({ expiresAt, id, name, place }): ShownDelegation => ({
    id,
    name,
    place,
    expires_at: expiresAt,
    ended: Date.parse(expiresAt) <= millis
  }))
})

/** How a command without a terminal gets a credential again where a delegation has ended. */
export const waysOut = ({ name, place }: Pick<ShownDelegation, "name" | "place">): string =>
  `coffer delegate ${place} --name '${name}' makes another one; coffer delegate revoke '${name}' forgets it, and commands take the session again`

/** Describes the effect of an ended delegation, and both ways out. */
export const endedLine = (delegation: ShownDelegation): string =>
  `the delegation ${delegation.name} for ${delegation.place} has ended, and commands without a terminal are refused there: ${waysOut(delegation)}`

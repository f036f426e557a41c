import { isIP } from "node:net"
import * as Effect from "effect/Effect"
import { ServerConfig } from "../../base/Config.js"
import { judge } from "../../base/outbound/AddressVerdict.js"
import { NetworkAccess } from "../../base/outbound/Outbound.js"
import { ConnectionFailed, type Kind, type Login, type Target } from "./Kind.js"
import { http } from "./HttpProgram.js"
import { mysql } from "./MySql.js"
import { postgres } from "./Postgres.js"
import type { ConnectionRow } from "./Repo.js"

/** The kinds of programs. */
export const kinds: Readonly<Record<ConnectionRow["kind"], Kind>> = { postgres, mysql, http }

const failed = (reason: ConnectionFailed["reason"]) => new ConnectionFailed({ reason })

/** Resolves the host of a connection once, judges all of its addresses, and takes one: the login goes there. */
export const makeTargets = Effect.gen(function* () {
  const { renewalNetworks } = yield* ServerConfig
  const { resolve } = yield* NetworkAccess
  const verdictOf = judge(renewalNetworks)

  const checkIsOn = renewalNetworks.length === 0 ? failed("off") : Effect.void

  const addressOf = (host: string) =>
    Effect.gen(function* () {
      const found =
        isIP(host) === 0
          ? yield* Effect.tryPromise({ try: () => resolve(host), catch: () => failed("no address") })
          : [{ address: host }]
      const [first] = found
      if (first === undefined) return yield* failed("no address")
      return found.every(({ address }) => verdictOf(address) !== "refused")
        ? first.address
        : yield* failed("address refused")
    }).pipe(Effect.timeoutFail({ duration: "5 seconds", onTimeout: () => failed("no address") }))

  /** Judges a connection that is used later. Names are resolved then. */
  const check = ({ host }: { readonly host: string }): Effect.Effect<void, ConnectionFailed> =>
    Effect.zipRight(checkIsOn, isIP(host) === 0 ? Effect.void : Effect.asVoid(addressOf(host)))

  const targetOf = ({ ca, database, host, port, tls }: ConnectionRow, login: Login) =>
    Effect.zipRight(
      checkIsOn,
      Effect.map(addressOf(host), (address): Target => ({ host, address, port, database, tls, ca, login }))
    )

  return { check, targetOf } as const
})

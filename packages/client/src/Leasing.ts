import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as Stream from "effect/Stream"
import type { Credential, Leased } from "./Lease.js"
import type { CofferService, Snapshot } from "./Service.js"

/** The names of a credential among the secrets: those of `coffer run --lease NAME=ROLE`. */
export const leaseKeys = (name: string) =>
  ({ user: `${name}_USER`, password: `${name}_PASSWORD`, url: `${name}_URL` }) as const

/** The secrets of an environment with a leased credential among them. */
export const withLease = (coffer: CofferService, name: string, { changes, credential }: Leased): CofferService => {
  const keys = leaseKeys(name)
  const added = (snapshot: Snapshot, { password, url, username }: Credential): Snapshot => ({
    ...snapshot,
    values: new Map([
      ...snapshot.values,
      [keys.user, Redacted.make(username)],
      [keys.password, password],
      [keys.url, url]
    ])
  })
  return {
    ...coffer,
    snapshot: Effect.zipWith(coffer.snapshot, credential, added),
    changes: Stream.mapEffect(changes, (now) => Effect.map(coffer.snapshot, (snapshot) => added(snapshot, now)))
  }
}

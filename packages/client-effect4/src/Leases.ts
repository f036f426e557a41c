import type * as core from "@coffer/client/promise"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Queue from "effect/Queue"
import * as Redacted from "effect/Redacted"
import * as Stream from "effect/Stream"
import { attempt } from "./Call.js"
import type { CofferService, Credential, Leased, LeaseOptions, Snapshot } from "./Service.js"

const credentialOf = ({ id, password, url, username }: core.LeasedCredential): Credential => ({
  id,
  username,
  password: Redacted.make(password),
  url: Redacted.make(url)
})

const plain = ({ overlap, ...same }: LeaseOptions): core.LeaseOptions => ({
  ...same,
  ...(overlap !== undefined && {
    overlap: Option.match(Duration.fromInput(overlap), { onNone: () => 0, onSome: Duration.toMillis })
  })
})

/** The leases of a connection. */
export const leasesOver =
  ({ lease }: Pick<core.Connection, "lease">): CofferService["lease"] =>
  (role, options = {}) =>
    Effect.map(
      Effect.acquireRelease(
        attempt(() => lease(role, plain(options))),
        ({ close }) => Effect.promise(close)
      ),
      (held): Leased => {
        const credential = Effect.sync(() => credentialOf(held.credential))
        return {
          credential,
          changes: Stream.callback((queue) => {
            const emit = () => void Queue.offerUnsafe(queue, credentialOf(held.credential))
            const listen = Effect.sync(() => held.onChange(emit))
            return Effect.andThen(Effect.acquireRelease(listen, Effect.sync), Effect.sync(emit))
          })
        }
      }
    )

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
    snapshot: Effect.flatMap(coffer.snapshot, (snapshot) => Effect.map(credential, (now) => added(snapshot, now))),
    changes: Stream.mapEffect(changes, (now) => Effect.map(coffer.snapshot, (snapshot) => added(snapshot, now)))
  }
}

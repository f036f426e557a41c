import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Exit from "effect/Exit"
import * as Redacted from "effect/Redacted"
import * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import type { Exchange } from "../internal/Exchange.js"
import { type Credential, leaseBy } from "../Lease.js"
import { failureOf } from "./Calls.js"
import type { Lease, LeasedCredential, LeaseOptions } from "./LeasedUser.js"
import { reload } from "./Reloaded.js"

interface Leasing {
  readonly exchange: Exchange
  /** ORGANIZATION/PROJECT/ENVIRONMENT. */
  readonly place: string
  /** Gives the effects of a lease what the connection gives its own. */
  readonly provide: <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
  readonly warn: (message: string) => void
  /** Receives what ends the lease, until it has ended. */
  readonly open: Set<() => Promise<void>>
}

const plain = ({ id, password, url, username }: Credential): LeasedCredential => ({
  id,
  username,
  password: Redacted.value(password),
  url: Redacted.value(url)
})

/** The parts that another credential has others of, by name. */
const textsOf = ({ id, password, url, username }: LeasedCredential): ReadonlyMap<string, string> =>
  new Map(Object.entries({ id, username, password, url }))

const keys = ["id", "username", "password", "url"] as const

export const leasesOver =
  ({ exchange, open, place, provide, warn }: Leasing) =>
  async (role: string, options?: LeaseOptions): Promise<Lease> => {
    const scope = await Effect.runPromise(Scope.make())
    const end = () => Effect.runPromise(provide(Scope.close(scope, Exit.void)))
    const listeners = new Set<(credential: LeasedCredential) => void>()
    const started = Effect.gen(function* () {
      const leased = yield* leaseBy(exchange, place, role, options)
      let now = plain(yield* leased.credential)
      const note = (next: Credential) =>
        Effect.sync(() => {
          if (next.id === now.id) return
          now = plain(next)
          for (const listener of listeners) queueMicrotask(() => listener(now))
        })
      yield* leased.changes.pipe(Stream.runForEach(note), Effect.forkScoped)
      return () => now
    }).pipe(
      Scope.extend(scope),
      Effect.onError(() => Scope.close(scope, Exit.void)),
      Effect.mapError(failureOf),
      Effect.either
    )
    const current = Either.getOrThrowWith(await Effect.runPromise(provide(started)), (failure) => failure)
    const opened = new Set<() => Promise<void>>()
    let ended: Promise<void> | undefined
    const close = () =>
      (ended ??= (async () => {
        await Promise.all([...opened].map((stop) => stop()))
        await end()
        open.delete(close)
      })())
    open.add(close)
    const onChange = (listener: (credential: LeasedCredential) => void) => {
      listeners.add(listener)
      return () => {
        listeners.delete(listener)
      }
    }
    return {
      get credential() {
        return current()
      },
      onChange,
      reload: (start, stop = () => undefined) =>
        reload(
          {
            get: (key) => textsOf(current()).get(key) ?? "",
            values: () => textsOf(current()),
            onChange: (listener) => onChange(listener),
            open: opened,
            warn
          },
          { keys, open: start, close: stop }
        ),
      close,
      [Symbol.asyncDispose]: close
    }
  }

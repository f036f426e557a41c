import type { BundleRequest, BundleSecret } from "@coffer/client/internal/BundleClient"
import { EnvName, LeaseRoleName, OrgName, ProjectName } from "@coffer/domain/base/Names"
import type { IssuedLease } from "@coffer/domain/secrets/Lease"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as Runtime from "effect/Runtime"
import * as Schedule from "effect/Schedule"
import { randomUUID } from "node:crypto"
import { clientWith } from "../grammar/Command.js"
import type { Output } from "../terminal/Output.js"
import { note } from "../terminal/Print.js"
import type { RunOptions } from "./RunArgv.js"
import { dieOf, type Signals } from "./Signals.js"
import { beforeStart, sentenceOf } from "./StartFailure.js"

/** Users of databases that the command has while it runs. */
export interface RunLeases {
  /** Their variables. */
  readonly secrets: () => ReadonlyArray<BundleSecret>
  /** Waits until one cannot be renewed much longer, replaces it, and returns its variables for people. */
  readonly replaced: Effect.Effect<string>
  /** Ends those that no command uses any more. */
  readonly endReplaced: Effect.Effect<void, never, Output>
}

interface Held {
  readonly name: string
  readonly role: LeaseRoleName
  lease: IssuedLease
}

/** A lease is renewed when a third of its time is left, and replaced in the last tenth of the time for renewals. */
const renewAfter = ({ expires_in }: { readonly expires_in: number }) => Duration.millis((expires_in * 1_000 * 2) / 3)
const replaceAfter = ({ renewable_for }: { readonly renewable_for: number }) =>
  Duration.millis(renewable_for * 1_000 - Math.min(renewable_for * 100, 300_000))

/** A lease that could not be renewed is tried again, and so is one that could not be replaced. */
const again = Duration.seconds(5)

const variablesOf = ({ lease, name }: Held): ReadonlyArray<BundleSecret> => [
  { key: `${name}_USER`, value: Redacted.make(lease.username) },
  { key: `${name}_PASSWORD`, value: lease.password },
  { key: `${name}_URL`, value: lease.url }
]

/** Leases the users, renews them while the scope is open, and ends them with it. */
export const runLeases = ({ credential, path, server }: BundleRequest, { leases }: RunOptions, signals: Signals) =>
  Effect.gen(function* () {
    const place = {
      org_name: OrgName.make(path.org_name),
      project_name: ProjectName.make(path.project_name),
      env_name: EnvName.make(path.env_name)
    }
    const { call } = yield* clientWith(server, Option.some(credential))

    /** A repeated call returns the same lease: a lost response leaves no second one. */
    const make = (role: LeaseRoleName) =>
      Effect.suspend(() => {
        const headers = { "idempotency-key": randomUUID() }
        return call("leases", (api) => api.create({ path: { ...place, role_name: role }, payload: {}, headers })).pipe(
          Effect.retry({
            while: ({ _tag }) => _tag === "ServerUnreachable",
            schedule: Schedule.intersect(Schedule.exponential("200 millis"), Schedule.recurs(2))
          })
        )
      })

    const end = ({ id, role }: IssuedLease) =>
      call("leases", (api) => api.revoke({ path: { ...place, lease_id: id } })).pipe(
        Effect.catchTag("NotFound", () => Effect.void),
        Effect.timeout("10 seconds"),
        Effect.catchAll(() => note(`the lease ${id} of ${role} is not ended: it ends by itself`))
      )

    const held: Array<Held> = []
    const unused: Array<IssuedLease> = []
    const endAll = Effect.suspend(() =>
      Effect.forEach([...held.splice(0).map(({ lease }) => lease), ...unused.splice(0)], end, {
        concurrency: 8,
        discard: true
      })
    )
    yield* Effect.addFinalizer(() => endAll)
    // A signal before there is a command ends this process: not without its leases.
    const runtime = yield* Effect.runtime<Output>()
    signals.giveTo((signal) => {
      void Runtime.runPromise(runtime)(Effect.ignore(endAll)).then(() => dieOf(signal))
    })
    for (const [name, role] of leases) {
      const known = LeaseRoleName.make(role)
      held.push({ name, role: known, lease: yield* make(known) })
    }

    /** Renews a lease until it ends. */
    const renewing = (one: Held) =>
      Effect.gen(function* () {
        let wait = renewAfter(one.lease)
        for (;;) {
          yield* Effect.sleep(wait)
          const { id } = one.lease
          const renewed = yield* Effect.either(
            call("leases", (api) => api.renew({ path: { ...place, lease_id: id }, payload: {} }))
          )
          if (renewed._tag === "Right") {
            wait =
              renewed.right.expires_in < renewed.right.renewable_for ? renewAfter(renewed.right) : Duration.hours(1)
          } else {
            wait = again
            yield* note(`the lease of ${one.role} is not renewed: ${yield* sentenceOf(renewed.left)}`)
          }
        }
      })
    for (const one of held) yield* Effect.forkScoped(renewing(one))

    const replacing = (one: Held): Effect.Effect<string> =>
      Effect.gen(function* () {
        yield* Effect.sleep(replaceAfter(one.lease))
        for (;;) {
          const made = yield* Effect.either(make(one.role))
          if (made._tag === "Right") {
            unused.push(one.lease)
            one.lease = made.right
            return `the lease ${one.name} of ${one.role} was replaced`
          }
          yield* Effect.sleep(again)
        }
      })

    const made: RunLeases = {
      secrets: () => held.flatMap(variablesOf),
      replaced: Effect.suspend(() => Effect.raceAll(held.map(replacing))),
      endReplaced: Effect.suspend(() => Effect.forEach(unused.splice(0), end, { discard: true }))
    }
    return made
  }).pipe(Effect.catchAll(beforeStart))

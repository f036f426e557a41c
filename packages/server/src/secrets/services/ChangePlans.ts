import { mayReveal } from "@coffer/domain/access/Actor"
import { Overloaded } from "@coffer/domain/errors/Errors"
import type { EnvId } from "@coffer/domain/base/Ids"
import type { SecretKey } from "@coffer/domain/base/Names"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import type * as Scope from "effect/Scope"
import type { Place } from "../../access/Access.js"
import { makeFairSemaphore } from "../../base/FairSemaphore.js"
import { sharedBounds } from "../../base/SharedBounds.js"
import { forEachInSlices } from "../../base/EventLoop.js"
import { kindOf } from "../../keys/Envelope.js"
import type { Totals } from "../stored/ChangesRepo.js"
import { type Contents, keysAtOnce, secretsRepo, type WholeRow } from "../stored/Repo.js"
import { type Content, Versions } from "../stored/Versions.js"
import { deletion, inByteOrder, isSet, type SetStep, setStep, type Step, unchanged } from "./Steps.js"

/** Changes of more keys are planned and encrypted before their transaction, which keeps other writers waiting. */
export const smallChange = 50

/** How long a large change waits for its turn. */
const patience = "30 seconds"

const tooManyChanges = new Overloaded({
  message: "too many changes of many keys at once: try again in 1 second",
  retryAfter: 1
})

/** The requested changes by key: what to set, or null to delete the secret. */
export type Wanted = ReadonlyMap<SecretKey, Content | null>

/** An environment in the transaction that changes it, with its state before and the time of the change. */
export interface Claimed {
  readonly place: Place<"secret.write">
  readonly totals: Totals
  readonly at: string
}

/** A plan that holds as long as its environment has the same revision. */
export interface Draft {
  readonly envId: EnvId
  readonly revision: number
  readonly steps: ReadonlyArray<Step>
}

export interface PlanOptions {
  readonly dryRun: boolean
  /** Steps that are known already. */
  readonly settled?: ReadonlyArray<Step>
}

/** Plans changes of the secrets of one environment: compares what is wanted with what is stored. */
export const makeChangePlans = Effect.gen(function* () {
  const repo = yield* secretsRepo
  const versions = yield* Versions

  /** Whether a version holds this value. One that does not decrypt counts as different, so a write replaces it. */
  const isSame = (
    place: Place<"secret.write">,
    row: WholeRow,
    { content: { kind, value }, growth }: SetStep
  ): Effect.Effect<boolean> =>
    growth !== 0 || kindOf(row) !== kind
      ? Effect.succeed(false)
      : Effect.match(versions.open(place, row, row), {
          onFailure: () => false,
          onSuccess: (before) => Redacted.value(before) === Redacted.value(value)
        })

  const stepOf = Effect.fnUntraced(function* (
    place: Place<"secret.write">,
    row: WholeRow | undefined,
    key: SecretKey,
    content: Content | null,
    compares: boolean
  ) {
    if (row !== undefined) yield* versions.checkNewest(place, row)
    if (content === null) return row === undefined ? unchanged(key, 0) : deletion(key, row)
    const step = yield* setStep(key, content, row)
    return row !== undefined && compares && (yield* isSame(place, row, step))
      ? unchanged(key, row.version, content)
      : step
  })

  /** Whether a draft holds in the transaction. */
  const isCurrent = (draft: Draft | null, { place, totals }: Claimed): draft is Draft =>
    draft?.envId === place.env.id && draft.revision === totals.revision

  /** Returns the steps for the wanted changes and the `settled` ones, in byte order of their keys. `seals` encrypts values. */
  const stepsOf = Effect.fnUntraced(function* (
    place: Place<"secret.write">,
    rows: ReadonlyArray<WholeRow>,
    wanted: Wanted,
    { dryRun, settled = [] }: PlanOptions,
    seals = false
  ) {
    const existing = new Map(rows.map((row) => [row.key, row]))
    // Accounts that are never given values could test guesses by dry runs or requests, which change nothing.
    const compares = mayReveal(place.actor) || (!dryRun && place.decision?.kind !== "requested")
    const steps = yield* forEachInSlices([...wanted], ([key, content]) =>
      Effect.flatMap(stepOf(place, existing.get(key), key, content, compares), (step) =>
        seals && isSet(step)
          ? Effect.map(versions.seal(place, step), (sealed): Step => ({ ...step, sealed }))
          : Effect.succeed(step)
      )
    )
    return [...settled, ...steps].sort(inByteOrder)
  })

  /** Plans the wanted changes in the transaction. */
  const plan = ({ place, totals }: Claimed, wanted: Wanted, options: PlanOptions) => {
    // Pages of the whole environment take fewer statements than many keys.
    const keys = wanted.size > Math.max(keysAtOnce, totals.secret_count / 20) ? undefined : [...wanted.keys()]
    return Effect.flatMap(repo.select(place.env.id, keys), (rows) => stepsOf(place, rows, wanted, options))
  }

  /** As `draft`, from the contents of the environment. */
  const draftFrom = (
    place: Place<"secret.write">,
    { revision, secrets }: Pick<Contents, "revision" | "secrets">,
    wanted: Wanted,
    options: PlanOptions
  ) =>
    Effect.map(stepsOf(place, secrets, wanted, options, !options.dryRun), (steps): Draft => ({
      envId: place.env.id,
      revision,
      steps
    }))

  /**
   * Plans a large change outside of its transaction, and encrypts its values. Returns null if the environment is removed. If it
   * changes before the transaction, the transaction plans again.
   */
  const draft = Effect.fnUntraced(function* (place: Place<"secret.write">, wanted: Wanted, dryRun: boolean) {
    const contents = yield* repo.contents(place.env.id, undefined)
    return contents === undefined ? null : yield* draftFrom(place, contents, wanted, { dryRun })
  })

  const turns = makeFairSemaphore(sharedBounds.largeChanges)

  /**
   * Waits for the turn of a change that is prepared, until the end of its request: what is prepared takes ten times the memory of
   * what was sent. Of one tenant, the next is prepared while one is written. Dies with Overloaded: the boundary responds with it.
   */
  const beginLarge: Effect.Effect<void, never, Scope.Scope> = turns.scoped.pipe(
    Effect.timeoutFail({ duration: patience, onTimeout: () => tooManyChanges }),
    Effect.orDie,
    Effect.asVoid
  )

  return { beginLarge, draft, draftFrom, isCurrent, plan } as const
})

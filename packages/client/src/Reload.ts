import * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Predicate from "effect/Predicate"
import * as Redacted from "effect/Redacted"
import * as Reloadable from "effect/Reloadable"
import * as Schedule from "effect/Schedule"
import * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { countUses, type Used } from "./internal/Uses.js"
import type { CofferService, Snapshot } from "./Service.js"
import { withProvider } from "./SecretsConfig.js"

type Values = ReadonlyArray<string | undefined>

const areSame = (one: Values, other: Values): boolean => one.every((value, index) => value === other[index])

/** A build that fails is tried again: a new password may be stored before the database knows it. */
const retries = Schedule.exponential("1 second").pipe(Schedule.union(Schedule.spaced("1 minute")), Schedule.jittered)

/** A failure may hold a value, such as the address of a database. Its tag does not. */
const nameOf = (cause: Cause.Cause<unknown>): string => {
  const failure = Cause.squash(cause)
  return Predicate.hasProperty(failure, "_tag") && typeof failure._tag === "string" ? failure._tag : "an error"
}

const counted: unique symbol = Symbol.for("@coffer/client/Reload/counted")

/** A `Reloadable` whose current service counts its users: one of `Coffer.reload`. */
interface Counted<S> extends Reloadable.Reloadable<S> {
  readonly [counted]: () => Used<S>
}

const isCounted = <S>(found: Reloadable.Reloadable<S>): found is Counted<S> => counted in found

/** Runs an effect with the current service, which is released only after the effect has ended. */
export const using =
  <I, S>(tag: Context.Tag<I, S>) =>
  <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, Exclude<R, I> | Reloadable.Reloadable<I>> =>
    Effect.flatMap(Reloadable.tag(tag), (reloadable) => {
      if (!isCounted(reloadable))
        return Effect.flatMap(Reloadable.get(tag), (service) => Effect.provideService(effect, tag, service))
      const hold = Effect.sync(() => {
        const used = reloadable[counted]()
        return { service: used.resource, release: used.hold() }
      })
      return Effect.acquireUseRelease(
        hold,
        ({ service }) => Effect.provideService(effect, tag, service),
        ({ release }) => Effect.sync(release)
      )
    })

/**
 * The service of a layer, which is built again when one of the keys changes. `ScopedRef.set`, which `Reloadable` uses,
 * releases the old service before it builds the new one. Here the new one is built first.
 */
export const reloading = <I, S, E, R>(
  coffer: CofferService,
  tag: Context.Tag<I, S>,
  layer: Layer.Layer<I, E, R>,
  keys: ReadonlyArray<string>
): Effect.Effect<Context.Context<Reloadable.Reloadable<I>>, E, R | Scope.Scope> =>
  Effect.gen(function* () {
    const valuesOf = ({ values }: Snapshot): Values =>
      keys.map((key) => {
        const value = values.get(key)
        return value === undefined ? undefined : Redacted.value(value)
      })
    const build = Effect.uninterruptibleMask((restore) =>
      Effect.gen(function* () {
        const values = valuesOf(yield* coffer.snapshot)
        const scope = yield* Scope.make()
        const context = yield* restore(withProvider(coffer)(Layer.buildWithScope(layer, scope))).pipe(
          Effect.onError((cause) => Scope.close(scope, Exit.failCause(cause)))
        )
        return { values, scope, used: countUses(Context.get(context, tag)) }
      })
    )
    const owner = yield* Effect.scope
    /** Releases the old service once its users have ended, and at the latest with the layer. */
    const close = ({ scope, used }: { readonly scope: Scope.CloseableScope; readonly used: Used<S> }) => {
      const release = Effect.catchAllCause(Scope.close(scope, Exit.void), () =>
        Effect.logWarning(`${tag.key}: the old service was not released properly`)
      )
      if (!used.isUsed()) return release
      const unused = Effect.interruptible(Effect.promise(used.unused))
      return Effect.asVoid(Effect.forkIn(Effect.ensuring(unused, release), owner))
    }

    let current = yield* build
    yield* Effect.addFinalizer((exit) => Effect.suspend(() => Scope.close(current.scope, exit)))
    const context = yield* Layer.build(Reloadable.manual(tag, { layer: Layer.sync(tag, () => current.used.resource) }))
    const reloadable: Counted<S> = { ...Context.get(context, Reloadable.tag(tag)), [counted]: () => current.used }
    const rebuild = Effect.uninterruptibleMask((restore) =>
      Effect.gen(function* () {
        const next = yield* restore(build)
        const old = current
        current = next
        yield* Effect.orDie(Effect.provide(Reloadable.reload(tag), context))
        yield* close(old)
        const changed = keys.filter((_, index) => next.values[index] !== old.values[index])
        yield* Effect.logInfo(`${tag.key} was built again: ${changed.join(", ")} changed`)
      })
    ).pipe(
      Effect.sandbox,
      Effect.tapError((cause) =>
        Cause.isInterruptedOnly(cause)
          ? Effect.void
          : Effect.logWarning(`${tag.key} could not be built again, so the old service stays: ${nameOf(cause)}`)
      ),
      Effect.retry({ schedule: retries, while: (cause) => !Cause.isInterruptedOnly(cause) }),
      Effect.ignore
    )
    yield* coffer.changes.pipe(
      Stream.map(valuesOf),
      Stream.changesWith(areSame),
      Stream.flatMap(
        (values) => Stream.fromEffect(Effect.suspend(() => (areSame(values, current.values) ? Effect.void : rebuild))),
        { switch: true }
      ),
      Stream.runDrain,
      Effect.forkScoped
    )
    return Context.make(Reloadable.tag(tag), reloadable)
  })

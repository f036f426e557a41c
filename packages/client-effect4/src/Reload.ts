import { renewing } from "@coffer/client/internal/Renewal"
import * as Cause from "effect/Cause"
import * as ConfigProvider from "effect/ConfigProvider"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { secretsProvider } from "./SecretsConfig.js"
import type { CofferService } from "./Service.js"

/** The service of `Coffer.reload`: `Coffer.using` runs effects with the one that was built last. */
export interface Reloaded<in out I> {
  readonly "~@coffer/client-effect4/Reloaded": (service: I) => I
}

/** Counts a user of the service that was built last. */
type Hold<S> = () => { readonly service: S; readonly release: () => void }

const holdOf = <I, S>({ key }: Context.Key<I, S>) =>
  Context.Service<Reloaded<I>, Hold<S>>(`@coffer/client-effect4/Reloaded/${key}`)

/** Runs an effect with the current service, which is released only after the effect has ended. */
export const using =
  <I, S>(tag: Context.Key<I, S>) =>
  <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, Exclude<R, I> | Reloaded<I>> =>
    Effect.flatMap(holdOf(tag), (hold) =>
      Effect.acquireUseRelease(
        Effect.sync(hold),
        ({ service }) => Effect.provideService(effect, tag, service),
        ({ release }) => Effect.sync(release)
      )
    )

const make = Effect.fnUntraced(function* <I, S, E, R>(
  coffer: CofferService,
  tag: Context.Key<I, S>,
  layer: Layer.Layer<I, E, R>,
  keys: ReadonlyArray<string>
) {
  const context = yield* Effect.context<R>()
  const provider = secretsProvider(coffer, yield* ConfigProvider.ConfigProvider)
  const starting = new AbortController()
  let cause: Cause.Cause<E> = Cause.empty
  const open = async (signal: AbortSignal) => {
    const scope = Scope.makeUnsafe()
    const built = await Layer.buildWithScope(Layer.fresh(layer), scope).pipe(
      Effect.provideService(ConfigProvider.ConfigProvider, provider),
      (build) => Effect.runPromiseExitWith(context)(build, { signal: AbortSignal.any([signal, starting.signal]) })
    )
    if (Exit.isSuccess(built)) return { scope, service: Context.get(built.value, tag) }
    cause = built.cause
    await Effect.runPromise(Scope.close(scope, built))
    throw Cause.squash(cause)
  }
  const start = renewing({
    texts: () => {
      const { values } = Effect.runSync(coffer.snapshot)
      return keys.map((key) => {
        const value = values.get(key)
        return value && Redacted.value(value)
      })
    },
    open,
    close: ({ scope }) => Effect.runPromiseWith(context)(Scope.close(scope, Exit.void)),
    warn: (sentence) => void Effect.runForkWith(context)(Effect.logWarning(sentence)),
    name: tag.key
  })
  const acquire = Effect.catch(Effect.tryPromise({ try: () => start, catch: () => "failed" as const }), () =>
    Effect.failCause(cause)
  ).pipe(
    Effect.onInterrupt(() =>
      Effect.sync(() => {
        starting.abort()
        start.then(({ close }) => close()).catch(() => undefined)
      })
    )
  )
  const { current, look } = yield* Effect.acquireRelease(acquire, ({ close }) => Effect.promise(close), {
    interruptible: true
  })
  yield* Effect.forkScoped(Stream.runForEach(coffer.changes, () => Effect.sync(look)))
  return (): ReturnType<Hold<S>> => {
    const { hold, resource } = current()
    return { service: resource.service, release: hold() }
  }
})

/** The service of a layer, which is built again when one of the keys changes. */
export const reloaded = <I, S, E, R>(
  coffer: CofferService,
  tag: Context.Key<I, S>,
  layer: Layer.Layer<I, E, R>,
  keys: ReadonlyArray<string>
): Layer.Layer<Reloaded<I>, E, Exclude<R, Scope.Scope>> => Layer.effect(holdOf(tag), make(coffer, tag, layer, keys))

import * as Config from "effect/Config"
import * as ConfigProvider from "effect/ConfigProvider"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import { open, testSecrets } from "./Core.js"
import type { StartError } from "./Errors.js"
import { reloaded, type Reloaded, using } from "./Reload.js"
import { readConfig, secretsProvider } from "./SecretsConfig.js"
import type { CallError } from "./Call.js"
import { leaseKeys, withLease } from "./Leases.js"
import type { CofferService, LeaseOptions, Options } from "./Service.js"

/** Changes the secrets of `Coffer.layerTest`: `set(key, value)` and `remove(key)` each publish a change. */
export class TestCoffer extends Context.Service<TestCoffer, ReturnType<typeof testSecrets>["test"]>()(
  "@coffer/client-effect4/Coffer/TestCoffer"
) {}

/** The secrets of an environment of a Coffer server, kept up to date. */
export class Coffer extends Context.Service<Coffer, CofferService>()("@coffer/client-effect4/Coffer") {
  /** Reads the environment when it is built, then follows its changes. */
  static readonly layer = (options: Options): Layer.Layer<Coffer, StartError> => Layer.effect(Coffer, open(options))

  /** As `layer`, with options from configs. */
  static readonly layerConfig = (options: Config.Wrap<Options>): Layer.Layer<Coffer, Config.ConfigError | StartError> =>
    Layer.unwrap(Effect.map(Config.unwrap<Options>(options), Coffer.layer))

  /** Secrets in memory, for tests. `TestCoffer` changes them. */
  static readonly layerTest = (values: Readonly<Record<string, string>>): Layer.Layer<Coffer | TestCoffer> =>
    Layer.effectContext(
      Effect.sync(() => {
        const { coffer, test } = testSecrets(values)
        return Context.make(Coffer, coffer).pipe(Context.add(TestCoffer, test))
      })
    )

  /** Reads a config: from the secrets first, then from the provider of the application. No error contains a value. */
  static readonly withSecrets = <A>(config: Config.Config<A>): Effect.Effect<A, Config.ConfigError, Coffer> =>
    Effect.flatMap(Coffer, (coffer) => readConfig(coffer, config))

  /**
   * Lets `Config` read secrets: those of the environment first, then what the provider before it has. Errors of Effect's own
   * configs show no value. A schema or a function that repeats the text shows it: read such a config by `withSecrets`.
   */
  static readonly layerConfigProvider: Layer.Layer<never, never, Coffer> = Layer.unwrap(
    Effect.flatMap(Coffer, (coffer) =>
      Effect.map(ConfigProvider.ConfigProvider, (others) => ConfigProvider.layer(secretsProvider(coffer, others)))
    )
  )

  /**
   * The service of a layer, built again when one of the keys changes. The old service is released once the new one has replaced
   * it and `using` has no more effects that run with it. `Config` reads secrets while the layer is built.
   */
  static readonly reload = <I, S, E, R>(
    tag: Context.Key<I, S>,
    layer: Layer.Layer<I, E, R>,
    keys: ReadonlyArray<string>
  ): Layer.Layer<Reloaded<I>, E, Coffer | Exclude<R, Scope.Scope>> =>
    Layer.unwrap(Effect.map(Coffer, (coffer) => reloaded(coffer, tag, layer, keys)))

  /**
   * As `reload`, for a layer that reads the credential of a leased user: `NAME_URL`, or `NAME_USER` and `NAME_PASSWORD`. The layer is
   * built again when the lease is replaced, and the old credential stays valid for `overlap`.
   */
  static readonly leased = <I, S, E, R>(
    tag: Context.Key<I, S>,
    layer: Layer.Layer<I, E, R>,
    { name, role, ...options }: LeaseOptions & { readonly name: string; readonly role: string }
  ): Layer.Layer<Reloaded<I>, CallError<string> | E, Coffer | Exclude<R, Scope.Scope>> =>
    Layer.unwrap(
      Effect.flatMap(Coffer, (coffer) =>
        Effect.map(coffer.lease(role, options), (leased) =>
          reloaded(withLease(coffer, name, leased), tag, layer, [leaseKeys(name).url])
        )
      )
    )

  /** Runs an effect with the service that `reload` has built last. It stays until the effect has ended. */
  static readonly using = using
}

import type { Call } from "./internal/Call.js"
import type { Exchange } from "./internal/Exchange.js"
import * as Config from "effect/Config"
import type { ConfigError } from "effect/ConfigError"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { Reloadable } from "effect/Reloadable"
import { secretIn, type StartError } from "./Errors.js"
import { type Followed, open } from "./Follow.js"
import { leaseBy, type LeaseFailed, type LeaseOptions, toLeaseFailed } from "./Lease.js"
import { leaseKeys, withLease } from "./Leasing.js"
import type { Options } from "./Options.js"
import { reloading, using } from "./Reload.js"
import { secretsProvider, withProvider } from "./SecretsConfig.js"
import type { CofferService, TestCofferService } from "./Service.js"
import { testSecrets } from "./TestSecrets.js"

const service = (followed: Followed, call: Call, lease: CofferService["lease"]): CofferService => ({
  ...followed,
  get: (key) => Effect.flatMap(followed.snapshot, (snapshot) => secretIn(snapshot, key)),
  call,
  lease
})

/** The typed client of the whole contract, loaded by the first call. */
const makeCall = (exchange: Exchange) =>
  Effect.map(
    Effect.cached(
      Effect.uninterruptible(
        Effect.map(
          Effect.promise(() => import("./internal/TypedCalls.js")),
          ({ typedCalls }) => typedCalls(exchange)
        )
      )
    ),
    (loaded): Call =>
      (group, f) =>
        Effect.flatMap(loaded, (call) => call(group, f))
  )

const make = (options: Options) =>
  Effect.flatMap(open(options), ({ exchange, followed }) =>
    Effect.map(makeCall(exchange), (call) =>
      service(followed, call, (role, lease) =>
        Effect.mapError(leaseBy(exchange, options.place, role, lease), toLeaseFailed)
      )
    )
  )

/** Changes the secrets of `Coffer.layerTest`. */
export class TestCoffer extends Context.Tag("@coffer/client/Coffer/TestCoffer")<TestCoffer, TestCofferService>() {}

/** The secrets of an environment of a Coffer server, kept up to date. */
export class Coffer extends Context.Tag("@coffer/client/Coffer")<Coffer, CofferService>() {
  /** Reads the environment when it is built, then follows its changes. */
  static readonly layer = (options: Options): Layer.Layer<Coffer, StartError> => Layer.scoped(Coffer, make(options))

  /** As `layer`, with options from configs. */
  static readonly layerConfig = (options: Config.Config.Wrap<Options>): Layer.Layer<Coffer, ConfigError | StartError> =>
    Layer.unwrapEffect(Effect.map(Config.unwrap(options), Coffer.layer))

  /** Secrets in memory, for tests. `TestCoffer` changes them. */
  static readonly layerTest = (values: Readonly<Record<string, string>>): Layer.Layer<Coffer | TestCoffer> =>
    Layer.effectContext(
      Effect.map(testSecrets(values), ({ call, followed, lease, test }) =>
        Context.make(Coffer, service(followed, call, lease)).pipe(Context.add(TestCoffer, test))
      )
    )

  /** Lets `Config` read secrets: those of the environment first, then what the provider before it has. */
  static readonly layerConfigProvider: Layer.Layer<never, never, Coffer> = Layer.unwrapEffect(
    Effect.flatMap(Coffer, (coffer) =>
      Effect.configProviderWith((other) => Effect.succeed(Layer.setConfigProvider(secretsProvider(coffer, other))))
    )
  )

  /** As `layerConfigProvider`, for one effect. */
  static readonly withSecrets = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, Coffer | R> =>
    Effect.flatMap(Coffer, (coffer) => withProvider(coffer)(effect))

  /**
   * The service of a layer, built again when one of the keys changes. The old service is released once the new one has
   * replaced it and `using` has no more effects that run with it. `Config` reads secrets while the layer is built.
   */
  static readonly reload = <I, S, E, R>(
    tag: Context.Tag<I, S>,
    layer: Layer.Layer<I, E, R>,
    keys: ReadonlyArray<string>
  ): Layer.Layer<Reloadable<I>, E, Coffer | R> =>
    Layer.scopedContext(Effect.flatMap(Coffer, (coffer) => reloading(coffer, tag, layer, keys)))

  /**
   * As `reload`, for a layer that reads the credential of a leased user: `NAME_URL`, or `NAME_USER` and `NAME_PASSWORD`. The layer is
   * built again when the lease is replaced, and the old credential stays valid for `overlap`.
   */
  static readonly leased = <I, S, E, R>(
    tag: Context.Tag<I, S>,
    layer: Layer.Layer<I, E, R>,
    { name, role, ...options }: LeaseOptions & { readonly name: string; readonly role: string }
  ): Layer.Layer<Reloadable<I>, E | LeaseFailed, Coffer | R> =>
    Layer.scopedContext(
      Effect.flatMap(Coffer, (coffer) =>
        Effect.flatMap(coffer.lease(role, options), (leased) =>
          reloading(withLease(coffer, name, leased), tag, layer, [leaseKeys(name).url])
        )
      )
    )

  /** Runs an effect with the service that `reload` has built last. It stays until the effect has ended. */
  static readonly using = using
}

import { assert, describe, it } from "@effect/vitest"
import { Config, type ConfigError, Context, Effect, type Layer, Redacted, type Reloadable } from "effect"
import {
  type BadSetting,
  Coffer,
  type EmptyEnvironment,
  type Forbidden,
  type MissingSecret,
  type Options,
  type ReadError,
  type StartError,
  type TestCoffer
} from "../src/index.js"

/** Whether two types are the same. The compiler checks this file; the test only says so. */
type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false
const same = <A, B>(_: Same<A, B>) => undefined

class Pool extends Context.Tag("@coffer/client/Types.test/Pool")<Pool, string>() {}
declare const coffer: Coffer["Type"]
declare const options: Options
declare const pool: Layer.Layer<Pool, "failed", "needed">

const message = ({ message }: { readonly message: string }) => Effect.succeed(message)

/** Every tag of a failed read. */
const handlers = {
  DatabaseUnavailable: message,
  DecryptionFailed: message,
  Forbidden: message,
  InternalError: message,
  NotFound: message,
  Overloaded: message,
  ServerUnreachable: message,
  SignInFailed: message,
  Unauthorized: message,
  UnexpectedResponse: message,
  UnknownApiError: message
} as const
const startHandlers = { ...handlers, BadSetting: message, EmptyEnvironment: message } as const
const { Forbidden: _forbidden, ...incomplete } = handlers

/** Never called. */
export const types = () => {
  same<Effect.Effect.Error<typeof coffer.refresh>, ReadError>(true)
  same<Effect.Effect.Error<ReturnType<typeof coffer.get>>, MissingSecret>(true)
  same<typeof coffer.snapshot extends Effect.Effect<unknown> ? true : false, true>(true)

  const handled = Effect.catchTags(coffer.refresh, handlers)
  same<Effect.Effect.Error<typeof handled>, never>(true)
  const left = Effect.catchTags(coffer.refresh, incomplete)
  same<Effect.Effect.Error<typeof left>, Forbidden>(true)
  // @ts-expect-error a tag is missing, so an error is left
  same<Effect.Effect.Error<typeof left>, never>(true)
  // @ts-expect-error a read meets no such error
  const other = Effect.catchTags(coffer.refresh, { Conflict: message })
  // @ts-expect-error a tag is misspelled
  const misspelled = Effect.catchTag(coffer.refresh, "Unauthorised", message)

  same<ReturnType<typeof Coffer.layer>, Layer.Layer<Coffer, StartError>>(true)
  const started = Effect.catchTags(Effect.provide(Coffer, Coffer.layer(options)), startHandlers)
  same<Effect.Effect.Error<typeof started>, never>(true)
  const unstarted = Effect.catchTags(Effect.provide(Coffer, Coffer.layer(options)), handlers)
  same<Effect.Effect.Error<typeof unstarted>, BadSetting | EmptyEnvironment>(true)

  const configured = () =>
    Coffer.layerConfig({ server: Config.string(), place: Config.string(), every: Config.duration() })
  same<ReturnType<typeof configured>, Layer.Layer<Coffer, ConfigError.ConfigError | StartError>>(true)
  // @ts-expect-error the server is needed
  Coffer.layerConfig({ place: Config.string() })

  same<ReturnType<typeof Coffer.layerTest>, Layer.Layer<Coffer | TestCoffer>>(true)
  same<typeof Coffer.layerConfigProvider, Layer.Layer<never, never, Coffer>>(true)
  const reloaded = () => Coffer.reload(Pool, pool, ["A"])
  same<ReturnType<typeof reloaded>, Layer.Layer<Reloadable.Reloadable<Pool>, "failed", "needed" | Coffer>>(true)

  // @ts-expect-error a key must be redacted
  Coffer.layer({ ...options, credential: { apiKey: "svc_sa_1" } })
  const path = { org_name: "acme", project_name: "webshop", env_name: "prod" }
  // @ts-expect-error there is no such call
  const call = coffer.call("secrets", (api) => api.nothing({ path }))

  return [left, other, misspelled, call, unstarted, handled, started, configured, reloaded]
}

describe("the types", () => {
  it("are checked by the compiler, in npm run types", () => {
    assert.isFunction(types)
    assert.strictEqual(String(Redacted.make("value")), "<redacted>")
  })
})

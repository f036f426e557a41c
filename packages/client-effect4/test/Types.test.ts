import { Config, Context, Effect, type Layer } from "effect"
import { assert, describe, it } from "vitest"
import {
  Coffer,
  type MissingSecret,
  type Options,
  type ReadError,
  type Reloaded,
  type StartError,
  type TestCoffer
} from "../src/index.js"

/** Whether two types are the same. The compiler checks this file; the test only says so. */
type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false
const same = <A, B>(_: Same<A, B>) => undefined

class Pool extends Context.Service<Pool, string>()("Types.test/Pool") {}

declare const coffer: Coffer["Service"]
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
  Overloaded: ({ retryAfter = 1 }: { readonly retryAfter?: number }) => Effect.succeed(`${retryAfter}`),
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
  same<Effect.Error<typeof coffer.refresh>, ReadError>(true)
  same<Effect.Error<ReturnType<typeof coffer.get>>, MissingSecret>(true)

  const handled = Effect.catchTags(coffer.refresh, handlers)
  same<Effect.Error<typeof handled>, never>(true)
  const left = Effect.catchTags(coffer.refresh, incomplete)
  same<Effect.Error<typeof left>, Extract<ReadError, { readonly _tag: "Forbidden" }>>(true)
  // @ts-expect-error a tag is missing, so an error is left
  same<Effect.Error<typeof left>, never>(true)
  // @ts-expect-error a read meets no such error
  const other = Effect.catchTags(coffer.refresh, { BadSetting: message })
  // @ts-expect-error a tag is misspelled
  const misspelled = Effect.catchTag(coffer.refresh, "Unauthorised", message)

  same<ReturnType<typeof Coffer.layer>, Layer.Layer<Coffer, StartError>>(true)
  const started = Effect.catchTags(Effect.provide(Coffer, Coffer.layer(options)), startHandlers)
  same<Effect.Error<typeof started>, never>(true)

  const configured = () =>
    Coffer.layerConfig({ server: Config.String("A"), place: Config.String("B"), every: Config.Duration("C") })
  same<ReturnType<typeof configured>, Layer.Layer<Coffer, Config.ConfigError | StartError>>(true)
  // @ts-expect-error the server is needed
  Coffer.layerConfig({ place: Config.String("B") })

  same<ReturnType<typeof Coffer.layerTest>, Layer.Layer<Coffer | TestCoffer>>(true)
  const port = Coffer.withSecrets(Config.Port("PORT"))
  same<typeof port, Effect.Effect<number, Config.ConfigError, Coffer>>(true)
  // @ts-expect-error an effect may catch an error of a config within, with its text
  const effect = Coffer.withSecrets(Effect.succeed(1))
  // @ts-expect-error a key must be redacted
  Coffer.layer({ ...options, credential: { apiKey: "svc_sa_1" } })

  const reloaded = () => Coffer.reload(Pool, pool, ["A"])
  same<ReturnType<typeof reloaded>, Layer.Layer<Reloaded<Pool>, "failed", "needed" | Coffer>>(true)
  const used = Coffer.using(Pool)(Effect.flatMap(Pool, () => Coffer))
  same<typeof used, Effect.Effect<Coffer["Service"], never, Coffer | Reloaded<Pool>>>(true)
  same<typeof Coffer.layerConfigProvider, Layer.Layer<never, never, Coffer>>(true)

  const path = { org_name: "acme", project_name: "webshop", env_name: "prod" }
  const list = coffer.call("secrets", (api) => api.list({ path }))
  const isForbidden: "Forbidden" extends Effect.Error<typeof list>["_tag"] ? true : false = true
  // @ts-expect-error a list meets no such error
  const conflict = Effect.catchTag(list, "Conflict", message)
  // @ts-expect-error there is no such call
  const nothing = coffer.call("secrets", (api) => api.nothing({ path }))
  // @ts-expect-error the key is missing
  const keyless = coffer.call("secrets", (api) => api.get({ path }))

  return [
    reloaded,
    used,
    isForbidden,
    conflict,
    nothing,
    keyless,
    left,
    other,
    misspelled,
    handled,
    started,
    configured,
    port,
    effect
  ]
}

describe("the types on Effect 4", () => {
  it("are checked by the compiler, in npm run types", () => {
    assert.isFunction(types)
  })
})

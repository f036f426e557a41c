import { Coffer } from "@coffer/client"
import { Config, Console, Effect, Layer, Redacted } from "effect"

const program = Effect.gen(function* () {
  const url = yield* Config.redacted("DATABASE_URL")
  const port = yield* Config.port("PORT").pipe(Config.withDefault(8080))
  yield* Console.log(`${Redacted.value(url).length} characters, port ${port}`)
})

const Secrets = Coffer.layerConfigProvider.pipe(
  Layer.provide(
    Coffer.layerConfig({
      server: Config.string("SERVICE_SERVER_URL"),
      place: Config.string("COFFER_PLACE"),
      name: Config.succeed("shop 1.4.0")
    })
  )
)

await program.pipe(Effect.provide(Secrets), Effect.runPromise)

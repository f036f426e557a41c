import { Coffer } from "@coffer/client-effect4"
import { Config, Console, Effect, Redacted } from "effect"

const program = Effect.gen(function* () {
  const url = yield* Coffer.withSecrets(Config.Redacted("DATABASE_URL"))
  const port = yield* Coffer.withSecrets(Config.withDefault(Config.Port("PORT"), 8080))
  yield* Console.log(`${Redacted.value(url).length} characters, port ${port}`)
})

const Secrets = Coffer.layerConfig({
  server: Config.String("SERVICE_SERVER_URL"),
  place: Config.String("COFFER_PLACE"),
  name: Config.succeed("shop 1.4.0")
})

await program.pipe(Effect.provide(Secrets), Effect.runPromise)

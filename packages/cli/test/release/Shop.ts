/** An application that lives with its secrets: it shows two of them, first and after each change. */
import { Coffer } from "@coffer/client"
import { Config, Console, Effect, Layer, Stream } from "effect"

const shown = (key: string) => Effect.catchAll(Config.string(key), (error) => Effect.succeed(error.message))
const line = Effect.flatMap(Effect.all([shown("COLOUR"), shown("LINK")]), (both) => Console.log(both.join(", ")))
const program = Effect.flatMap(Coffer, ({ changes }) => Stream.runForEach(changes, () => line))

const Secrets = Coffer.layerConfigProvider.pipe(
  Layer.provideMerge(
    Coffer.layerConfig({
      server: Config.string("SERVICE_SERVER_URL"),
      place: Config.string("COFFER_PLACE"),
      every: Config.succeed("200 millis"),
      offline: { folder: Config.string("COPIES"), maxAge: Config.succeed("1 hour") }
    })
  )
)

await program.pipe(Effect.provide(Secrets), Effect.runPromise)

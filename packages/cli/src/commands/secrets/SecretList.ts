import * as Effect from "effect/Effect"
import { WrongUsage } from "../../Failures.js"
import { atEnvs } from "../../grammar/Command.js"
import { listKeys } from "../../secrets/List.js"
import { matrix } from "./Matrix.js"

const bothPlaces = new WrongUsage({ message: "--env names one environment, and --all-envs all: give one of them" })

export const list = atEnvs("list", {
  description: "List the keys, without values",
  examples: ["coffer secret list", "coffer secret list --env prod --json", "coffer secret list --all-envs"],
  options: {},
  run: ({ call, exchange, given, path: { env_name, ...project } }) =>
    Effect.gen(function* () {
      if (env_name !== undefined) return yield* listKeys(exchange, { ...project, env_name })
      if (given.env !== undefined) return yield* bothPlaces
      return yield* matrix(call, project)
    })
})

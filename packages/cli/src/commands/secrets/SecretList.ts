import type { SecretListed } from "@coffer/domain/Secret"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { WrongUsage } from "../../Failures.js"
import { atEnvs } from "../../grammar/Command.js"
import { listView } from "../../terminal/View.js"
import { dueText } from "./Due.js"
import { matrix } from "./Matrix.js"

const columns = {
  key: (secret: SecretListed) => secret.key,
  version: (secret: SecretListed) => secret.version,
  updated: (secret: SecretListed) => secret.updated_at
}

const bothPlaces = new WrongUsage({ message: "--env names one environment, and --all-envs all: give one of them" })

export const list = atEnvs("list", {
  description: "List the keys, without values",
  examples: ["coffer secret list", "coffer secret list --env prod --json", "coffer secret list --all-envs"],
  options: {},
  run: ({ call, given, path: { env_name, ...project } }) =>
    Effect.gen(function* () {
      if (env_name !== undefined) {
        const secrets = yield* call("secrets", (api) => api.list({ path: { ...project, env_name }, urlParams: {} }))
        const now = yield* Clock.currentTimeMillis
        const due = { due: (secret: SecretListed) => dueText(secret, now) }
        const isAnyDue = secrets.data.some(({ due_at }) => due_at !== undefined)
        const shown = { ...columns, ...(isAnyDue && due) }
        return listView(secrets, shown, "there are no secrets; store one with: coffer secret set KEY")
      }
      if (given.env !== undefined) return yield* bothPlaces
      return yield* matrix(call, project)
    })
})

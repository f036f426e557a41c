import { Api } from "@coffer/domain/Api"
import type { ServerFacts } from "@coffer/domain/server/ServerFacts"
import * as HttpApiBuilder from "@effect/platform/HttpApiBuilder"
import * as Effect from "effect/Effect"
import { Access } from "../../access/Access.js"
import { ServerConfig, type Settings } from "../../base/Config.js"
import { readUsage } from "./UsageRepo.js"
import { GivenSettings } from "../../base/config/ShownSettings.js"

const factsOf = ({ backups, broker, brokerUrl, orgCreation, renewalNetworks, trashDays }: Settings): ServerFacts => ({
  uses: broker || brokerUrl !== null,
  renewal: renewalNetworks.length > 0,
  backups: backups !== null,
  org_creation: orgCreation,
  trash_days: trashDays
})

export const ServerHttp = HttpApiBuilder.group(Api, "server", (handlers) =>
  Effect.gen(function* () {
    const access = yield* Access
    const config = yield* ServerConfig
    const data = yield* GivenSettings
    const usage = yield* readUsage
    return handlers
      .handle("show", () => Effect.succeed(factsOf(config)))
      .handle("settings", () =>
        Effect.zipRight(
          access.serverPlace("server.settings"),
          Effect.map(usage, (found) => ({ data, usage: found }))
        )
      )
  })
)

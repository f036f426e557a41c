import type { ServerSetting } from "@coffer/domain/server/ServerFacts"
import * as Effect from "effect/Effect"
import { atServer, wide } from "../../grammar/Command.js"
import { listView, recordView } from "../../terminal/View.js"

export const featuresCommand = atServer("features", {
  description: "Show what the server offers",
  examples: ["coffer features"],
  options: {},
  run: ({ call }) =>
    Effect.map(
      call("server", (api) => api.show({})),
      ({ backups, org_creation, renewal = false, uses }) => ({
        ...recordView({
          uses: uses ? "on" : "off",
          renewal: renewal ? "on" : "off",
          backups: backups ? "on" : "off",
          org_creation
        }),
        json: { uses, renewal, backups, org_creation }
      })
    )
})

const columns = {
  setting: ({ variable }: ServerSetting) => variable,
  value: ({ value }: ServerSetting) => value,
  source: ({ source, variable }: ServerSetting) => (source === variable ? "" : source),
  group: ({ group }: ServerSetting) => group ?? ""
}

export const settingsCommand = atServer("settings", {
  description: "List the server's settings, for its superadmins: of a secret only whether it is set",
  examples: ["coffer settings", "coffer settings --json"],
  options: { wide },
  run: ({ call }) =>
    Effect.map(
      call("server", (api) => api.settings({})),
      (found) => listView(found, columns, "there are no settings")
    )
})

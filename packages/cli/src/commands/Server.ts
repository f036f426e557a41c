import type { ServerSetting } from "@coffer/domain/ServerFacts"
import { Effect } from "effect"
import { atServer, group } from "../grammar/Command.js"
import { listView, recordView } from "../terminal/View.js"

const show = atServer("show", {
  description: "Show what the server offers",
  examples: ["coffer server show"],
  options: {},
  run: ({ call }) =>
    Effect.map(
      call("server", (api) => api.show({})),
      ({ backups, org_creation, uses }) => ({
        ...recordView({ uses: uses ? "on" : "off", backups: backups ? "on" : "off", org_creation }),
        json: { uses, backups, org_creation }
      })
    )
})

const columns = {
  setting: ({ variable }: ServerSetting) => variable,
  value: ({ value }: ServerSetting) => value,
  source: ({ source, variable }: ServerSetting) => (source === variable ? "" : source)
}

const settings = atServer("settings", {
  description: "List the server's settings, for its superadmins: of a secret only whether it is set",
  examples: ["coffer server settings --json"],
  options: {},
  run: ({ call }) =>
    Effect.map(
      call("server", (api) => api.settings({})),
      (found) => listView(found, columns, "there are no settings")
    )
})

export const serverCommand = group("server", "What the server offers, and its settings", [show, settings])

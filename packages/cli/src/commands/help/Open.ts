import { loadSettings } from "@coffer/client/internal/Settings"
import { parseServerUrl } from "@coffer/client/internal/ServerUrl"
import { Variables } from "@coffer/client/internal/Variables"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import { CannotDo } from "../../base/Failures.js"
import { command, env, json, org, project, serverUrl } from "../../grammar/Command.js"
import { placeGiven, placeProblem, refuse } from "../../grammar/Place.js"
import { inPlace, optionalPlace } from "../../grammar/PlaceForm.js"
import { noBrowserReason, openBrowser } from "../../terminal/Browser.js"
import { note, printJson, printLine } from "../../terminal/Print.js"
import { publicUrlOf } from "../auth/Login.js"

/** Paths of the server, which an organization may be named as well. Those have addresses below `/-/org/`. */
const serverPaths = new Set(["api", "device", "docs", "health", "login", "metrics", "v1"])

/** The path of the console's page of a place. */
export const consolePath = (org: string | undefined, project: string | undefined, env: string | undefined): string => {
  if (org === undefined) return "/"
  const root = serverPaths.has(org) ? `/-/org/${org}` : `/${org}`
  if (project === undefined) return root
  return env === undefined ? `${root}/${project}` : `${root}/${project}?env=${env}`
}

export const openCommand = command("open", {
  description: "Open the web console at the page of this place; without a display, print its address",
  examples: ["coffer open", "coffer open webshop/prod"],
  options: { place: optionalPlace, serverUrl, org, project, env, json },
  run: ({ json, place, ...options }) =>
    Effect.gen(function* () {
      const named = inPlace({ place })
      yield* refuse(placeProblem(options, named))
      const settings = yield* loadSettings(yield* placeGiven({ ...options, ...named }))
      const server = yield* settings.server
      const names = (["org", "project", "env"] as const).map((name) => settings.find(name)?.text)
      // The server's word is checked: an opener takes more than web pages.
      const { base } = yield* Either.mapLeft(
        parseServerUrl((yield* publicUrlOf(server)) ?? server.base, "flag"),
        ({ message }) => new CannotDo({ message: `the server's address for browsers ${message}` })
      )
      const url = new URL(`${base}${consolePath(names[0], names[1], names[2])}`)
      if (json) return yield* printJson({ url: url.href })
      const reason = noBrowserReason(yield* Variables)
      if (reason === undefined && (yield* openBrowser(url))) return yield* note(`${url.href} is open in the browser`)
      yield* printLine(url.href)
    })
})

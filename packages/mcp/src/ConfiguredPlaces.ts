import type { BadServiceFile } from "@coffer/client/internal/ServiceFile"
import { loadSettings, MissingSettings, type Settings } from "@coffer/client/internal/Settings"
import type { BadSetting } from "@coffer/client/internal/Variables"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import { Pinned } from "./Failures.js"
import { type FindSettings, otherNames, type Scope } from "./Places.js"

/** Reads the settings for each call, so that changes apply to the next call. */
export const freely: FindSettings = (given) => loadSettings(given, "parameter")

const whilePinned = Effect.mapError((failure: BadSetting | MissingSettings) => {
  if (failure._tag === "BadSetting") return failure
  const missing = failure.names.map((name) => `SERVICE_${name.toUpperCase()}`).join(", ")
  const message = `SERVICE_MCP_PIN is on and the place is not configured: ask the user to set ${missing}, and to start coffer-mcp again`
  return new MissingSettings({ names: failure.names, message })
})

/**
 * Uses the settings of the start: an agent that can write `service.yml` cannot reach another place with it. Refuses a call that
 * names another place, also if none is configured.
 */
export const pinned: Effect.Effect<FindSettings> = Effect.gen(function* () {
  const loaded = yield* Effect.either(loadSettings({}, "parameter"))
  if (Either.isLeft(loaded)) return (): Effect.Effect<Settings, BadServiceFile> => loaded
  const settings: Settings = {
    ...loaded.right,
    orgPath: whilePinned(loaded.right.orgPath),
    projectPath: whilePinned(loaded.right.projectPath),
    envPath: whilePinned(loaded.right.envPath)
  }
  const configured: Scope = yield* Effect.all({
    org: Effect.orElseSucceed(settings.org, () => undefined),
    project: Effect.orElseSucceed(settings.project, () => undefined),
    env: Effect.orElseSucceed(settings.env, () => undefined)
  })
  return (given: Scope, about: Scope) => {
    const chosen = otherNames(configured, given, about)
    if (chosen.length === 0) return Effect.succeed(settings)
    const message = `SERVICE_MCP_PIN is on, so a call may not choose its ${chosen.join(", ")}: only the configured place is used`
    return Effect.fail(new Pinned({ message }))
  }
})

import type { BundleRequest } from "@coffer/client/internal/BundleClient"
import { EnvName, OrgName, ProjectName } from "@coffer/domain/base/Names"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { clientWith } from "../grammar/Command.js"
import { note } from "../terminal/Print.js"
import { beforeStart } from "./StartFailure.js"
import type { RunOptions } from "./RunArgv.js"
import { NotStarted } from "./Start.js"

const named = (what: string, keys: ReadonlyArray<string>) => (keys.length === 0 ? [] : [`${what} ${keys.join(", ")}`])

/**
 * Fails if the environment lacks a declared key or a value breaks its pattern. Keys that are not declared keep nothing from working.
 * With an offline copy, an unreachable server does not prevent the start.
 */
export const checkKeys = ({ credential, path, server }: BundleRequest, { offline }: RunOptions) =>
  Effect.gen(function* () {
    const names = {
      org_name: OrgName.make(path.org_name),
      project_name: ProjectName.make(path.project_name),
      env_name: EnvName.make(path.env_name)
    }
    const { call } = yield* clientWith(server, Option.some(credential))
    const { breaks, missing } = yield* call("declared", (api) => api.check({ path: names }))
    const problems = [...named("missing", missing), ...named("against their pattern", breaks ?? [])]
    if (breaks === null) yield* note("patterns were not checked: this service account is never given values")
    if (problems.length > 0) {
      return yield* new NotStarted({
        code: 125,
        message: `${path.project_name}/${path.env_name} does not have what is declared: ${problems.join("; ")}`
      })
    }
  }).pipe(
    Effect.scoped,
    Effect.catchAll((failure) => {
      if (failure._tag === "NotStarted") return Effect.fail(failure)
      return failure._tag === "ServerUnreachable" && offline !== undefined
        ? note("the declared keys were not checked: the server cannot be reached")
        : beforeStart(failure)
    })
  )

import type { PrivateFileError } from "@coffer/client/internal/PrivateFile"
import type { FoundServiceFiles } from "@coffer/client/internal/ServiceFile"
import { fileTrust } from "@coffer/client/internal/TrustedFiles"
import * as Effect from "effect/Effect"
import type { Output } from "../terminal/Output.js"
import { note } from "../terminal/Print.js"
import { allowanceProblem } from "./FileAllowance.js"
import type { RunOptions } from "./RunArgv.js"
import { NotStarted } from "./Start.js"

/**
 * The leases of the command: those of the options, and those of `service.yml` if that file is trusted. Without trust these are left
 * out, and a note says so: a cloned repository must not have users made in a database.
 */
export const withFileLeases = (
  options: RunOptions,
  { leases }: FoundServiceFiles
): Effect.Effect<RunOptions, NotStarted | PrivateFileError, Output> =>
  Effect.gen(function* () {
    const added = [...(leases?.roles ?? [])].filter(([name]) => !options.leases.has(name))
    if (leases === undefined || added.length === 0) return options
    const { name } = leases.file
    const trust = yield* fileTrust(leases.file)
    if (trust !== "trusted") {
      yield* note(`no lease for ${allowanceProblem({ name, keys: added.map(([variables]) => variables), trust })}`)
      return options
    }
    if (options.watch?.signal !== undefined) {
      return yield* new NotStarted({
        code: 125,
        message: `--signal does not give the command another lease, and ${name} names leases: leave --signal out, so that --watch starts the command again`
      })
    }
    return { ...options, leases: new Map([...options.leases, ...added]) }
  })

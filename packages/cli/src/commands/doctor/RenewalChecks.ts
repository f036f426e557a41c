import type { EnvPath } from "@coffer/domain/api/Paths"
import * as Effect from "effect/Effect"
import type { Call } from "../../grammar/Command.js"
import { failed, type Finding, ok, problem, warning } from "./Finding.js"

/** Whether the rotations of an environment go on. */
const checkRotations = (call: Call, path: EnvPath) =>
  Effect.map(
    call("rotations", (api) => api.list({ path })),
    ({ data }) =>
      data.map(({ due_at, failures, name, paused, problem: why }) =>
        paused !== null
          ? problem("rotations", `${name} is paused: ${paused}; then: coffer rotation resume ${name}`)
          : failures > 0
            ? problem("rotations", `${name} fails: ${why ?? "a step failed"}; see: coffer rotation show ${name}`)
            : ok("rotations", `${name} is due at ${due_at}`)
      )
  )

/** Whether leases have left users in the databases. */
const checkOrphans = (call: Call, path: EnvPath) =>
  Effect.map(
    call("connections", (api) => api.list({ path })),
    ({ data }) =>
      data
        .filter(({ orphans }) => orphans > 0)
        .map(({ name, orphans }) =>
          warning("leases", `${name} has ${orphans} users that no lease has: coffer rotation orphans`)
        )
  )

/** Whether leases end. Only admins see all of them. */
const checkEnds = (call: Call, path: EnvPath) =>
  Effect.map(
    call("leases", (api) => api.list({ path })),
    ({ data }) =>
      data.flatMap(({ id, problem: why, role }) =>
        why === null ? [] : [problem("leases", `the user of the lease ${id} of ${role} is not removed yet: ${why}`)]
      )
  )

/** The rotations and leases of an environment. Only admins may ask. */
export const checkRenewal = (call: Call, path: EnvPath): Effect.Effect<ReadonlyArray<Finding>> =>
  Effect.all([checkRotations(call, path), checkOrphans(call, path), checkEnds(call, path)]).pipe(
    Effect.map((found) => found.flat()),
    Effect.catchAll((failure) => Effect.succeed([failed("rotations", failure)]))
  )

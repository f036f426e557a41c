import type { EnvName } from "@coffer/domain/base/Names"
import * as Effect from "effect/Effect"
import { allowedIn } from "../../client/Allowed.js"
import type { ProjectPlace } from "../../staging/Writes.js"

/** A right that somebody lacks. */
export interface MissingRight {
  readonly env: EnvName
  readonly permission: "read" | "write"
  readonly text: string
}

/** The right that the caller lacks to compare and copy; null if none is missing. */
export const missingRight = ({ org, project }: ProjectPlace, from: EnvName, to: EnvName) =>
  Effect.map(
    Effect.all([allowedIn(org, project, from), allowedIn(org, project, to)], { concurrency: 2 }),
    ([source, target]): MissingRight | null =>
      !source.includes("read")
        ? { env: from, permission: "read", text: `needs a rule with the permission read for ${from}` }
        : !target.includes("read") || !target.includes("write")
          ? {
              env: to,
              permission: "write",
              text: `needs the role developer, and a rule with the permission write for ${to}`
            }
          : null
  )

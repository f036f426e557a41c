import * as Schema from "effect/Schema"
import { EnvId } from "../base/Ids.js"
import { envNameForm } from "../base/NameForms.js"
import { EnvName } from "../base/Names.js"
import { boundedArray, Count, createdAt, field, optional, Timestamp, updatedAt } from "../base/Schemas.js"

/** The maximum number of environments of a project. */
export const maxEnvironments = 100

export const position = optional(
  Count,
  "its position in the project's own order, from 0; left out if that order does not name it",
  0
)

/** The end of an environment, in lists. */
export const endsAt = optional(Timestamp, "when it ends, and is removed; absent: it lasts", "2026-02-07T12:00:00.000Z")

/** How far ahead an environment may end. */
export const maxEnvironmentDays = 3_650

/** Some environments of a project, in the order of lists. */
export const EnvironmentNames = boundedArray(EnvName, {
  items: {
    type: "string",
    description: envNameForm.message,
    examples: ["prod"],
    pattern: envNameForm.pattern.source
  },
  max: maxEnvironments,
  text: `names at most ${maxEnvironments} environments`
})

export const Environment = Schema.Struct({
  id: field(EnvId, "its id"),
  name: field(EnvName, "its name"),
  position,
  protected: optional(Schema.Boolean, "true: each change needs the votes of its protection; absent: it has none", true),
  expires_at: endsAt,
  created_at: createdAt,
  updated_at: updatedAt
}).annotations({ identifier: "Environment", description: "a stage of a project, with secrets of its own" })
export type Environment = typeof Environment.Type

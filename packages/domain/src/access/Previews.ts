import * as Schema from "effect/Schema"
import { withMessage } from "../base/Message.js"
import { EnvName } from "../base/Names.js"
import { Pattern } from "../base/Pattern.js"
import { StoredSpan } from "./Protection.js"
import { field, optional, updatedAt } from "../base/Schemas.js"

/** How many previews a project may allow at once. */
const mostPreviews = 50

const maxMessage = withMessage(`must be a whole number from 1 to ${mostPreviews}`)
const MaxPreviews = Schema.Int.annotations(maxMessage).pipe(Schema.between(1, mostPreviews, maxMessage))

/** The limits of a project's previews, unless its previews say otherwise. */
export const previewDefaults = { max: 20, longest: "30d" } as const

const texts = {
  from: "the environment that they are copied from",
  pattern: "a pattern of their names",
  max: "how many there may be at once, 1 to 50",
  longest: "how far ahead their end may be: 1 minute to 30 days"
}

const source = EnvName.make("preview")
const pattern = Pattern.to.make("pr-*")

/** Which environments people and accounts that may write in them may create, extend and remove themselves. */
export const previewTerms = {
  from: field(EnvName, texts.from, source),
  pattern: field(Pattern, texts.pattern, pattern),
  max: optional(MaxPreviews, `${texts.max}; default: ${previewDefaults.max}`, previewDefaults.max),
  longest: optional(StoredSpan, `${texts.longest}; default: ${previewDefaults.longest}`, previewDefaults.longest)
}

export const Previews = Schema.Struct({
  from: field(EnvName, texts.from, source),
  pattern: field(Schema.String, texts.pattern, "pr-*"),
  max: field(MaxPreviews, texts.max, previewDefaults.max),
  longest: field(Schema.String, texts.longest, previewDefaults.longest),
  updated_by: field(Schema.String, "who set it: an e-mail", "ada@example.com"),
  updated_at: updatedAt
}).annotations({
  identifier: "Previews",
  description:
    "the environments that those who write in a project may create themselves: copies of one environment that end"
})
export type Previews = typeof Previews.Type

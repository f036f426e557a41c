import * as Schema from "effect/Schema"
import { withMessage } from "../base/Message.js"
import { EnvName, ProjectName, SecretKey } from "../base/Names.js"
import { Count, field, list, updatedAt } from "../base/Schemas.js"
import { secretKind } from "./Secret.js"

/** A part of a key, in a query string. */
export const KeyQuery = Schema.String.pipe(
  Schema.pattern(/^[A-Za-z0-9_.-]{1,100}$/, {
    ...withMessage("must be 1 to 100 letters, digits, underscores, dots and hyphens: a part of a key"),
    description: "a part of the keys to find, in upper or lower case",
    examples: ["STRIPE"]
  })
)

const cursorForm = /^([ps])~([a-z0-9-]{0,51})~([a-z0-9-]{0,51})~([A-Za-z0-9_.-]{0,101})$/

/** The end of a page of found keys. Opaque: clients send it back as `after`. */
export const KeyCursor = Schema.String.pipe(
  Schema.pattern(cursorForm, {
    ...withMessage("must be the next_cursor of an earlier page"),
    description: "the `next_cursor` of the previous page",
    examples: ["p~webshop~prod~STRIPE_KEY-"]
  })
)

/** Keys that begin with the query come first, then those that contain it elsewhere. */
export type KeySearchPart = "prefix" | "substring"

/** Where a search continues: in a part of it, at or after these names and this key. */
export interface KeyPosition {
  readonly part: KeySearchPart
  readonly project: string
  readonly env: string
  readonly key: string
}

export const keyCursorOf = ({ env, key, part, project }: KeyPosition): string =>
  [part === "prefix" ? "p" : "s", project, env, key].join("~")

/** Returns the position that a cursor encodes; the inverse of `keyCursorOf`. The beginning without a cursor. */
export const keyPositionOf = (cursor: string | undefined): KeyPosition => {
  const [, part = "p", project = "", env = "", key = ""] = cursorForm.exec(cursor ?? "") ?? []
  return { part: part === "p" ? "prefix" : "substring", project, env, key }
}

export const FoundKey = Schema.Struct({
  project: field(ProjectName, "the project's name"),
  env: field(EnvName, "the environment's name"),
  key: field(SecretKey, "the secret's key", SecretKey.make("STRIPE_KEY")),
  version: field(Count, "the number of the version, from 1"),
  updated_at: updatedAt,
  kind: secretKind,
  declared: field(Schema.Boolean, "whether the project declares the key", true)
}).annotations({ identifier: "FoundKey", description: "where a key is, without its value" })
export type FoundKey = typeof FoundKey.Type

export const FoundKeyPage = Schema.Struct({
  ...list(FoundKey).fields,
  pagination: field(
    Schema.Struct({
      limit: field(Count, "maximum number of records in a page", 100),
      has_next: field(Schema.Boolean, "whether the search goes on, even if this page is short or empty", false),
      next_cursor: field(Schema.NullOr(Schema.String), "the `after` of the next page; null at the end", null)
    }),
    "position of this page in the search"
  )
}).annotations({
  identifier: "FoundKeyPage",
  description:
    "a page of found keys: those that begin with the query first, each part sorted by project, environment and key"
})
export type FoundKeyPage = typeof FoundKeyPage.Type

import type { DueTerms } from "@coffer/domain/secrets/Due"
import { Email } from "@coffer/domain/base/Names"
import * as Schema from "effect/Schema"
import { sql } from "../../database/Query.js"

/** When a secret is due, and its owner; null where nothing is set. */
export const dueFields = {
  owner: Schema.NullOr(Schema.typeSchema(Email)),
  expires_at: Schema.NullOr(Schema.String),
  rotate_every_days: Schema.NullOr(Schema.Number),
  turn_at: Schema.NullOr(Schema.String),
  due_at: Schema.NullOr(Schema.String)
}

/** The columns of `dueFields`, of a statement that joins `secret_dues` as `d`. */
export const dueColumns = sql`d.owner AS owner, d.expires_at AS expires_at, d.rotate_every_days AS rotate_every_days,
  d.turn_at AS turn_at, d.due_at AS due_at`

/** Joins the due date of each secret `s`. */
export const joinDue = sql`LEFT JOIN secret_dues d ON d.secret_id = s.id`

interface DueRow extends DueTerms {
  readonly owner: Email | null
  readonly due_at: string | null
}

/** The fields of a row that are set, as the API has them. */
export const dueOf = ({ due_at, expires_at, owner, rotate_every_days, turn_at }: DueRow) => ({
  ...(expires_at !== null && { expires_at }),
  ...(rotate_every_days !== null && { rotate_every_days }),
  ...(owner !== null && { owner }),
  ...(turn_at !== null && { turn_at }),
  ...(due_at !== null && { due_at })
})

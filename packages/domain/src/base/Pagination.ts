import * as Schema from "effect/Schema"
import { Count, field } from "./Schemas.js"

const pagination = {
  limit: field(Count, "maximum number of records in a page", 100),
  has_next: field(Schema.Boolean, "whether there are more records", false),
  next_cursor: field(Schema.NullOr(Schema.String), "the `after` of the next page; null at the end", null)
}

/** The position of a page in a list whose total is not counted. */
export const Pagination = Schema.Struct(pagination)
export type Pagination = typeof Pagination.Type

export const paginationOf = (limit: number, next_cursor: string | null): Pagination => ({
  limit,
  has_next: next_cursor !== null,
  next_cursor
})

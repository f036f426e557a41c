import type { Migration } from "../Migration.js"

/** A voter's comment on a vote. Votes of older servers have none. */
export const voteComments: Migration = {
  name: "vote_comments",
  statements: ["ALTER TABLE request_votes ADD COLUMN comment TEXT"]
}

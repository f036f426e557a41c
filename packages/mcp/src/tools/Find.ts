import { FoundKeyPage, KeyCursor, KeyQuery } from "@coffer/domain/secrets/FoundKey"
import { LimitParameter, optional } from "@coffer/domain/base/Schemas"
import * as Schema from "effect/Schema"
import { reads } from "../Hints.js"
import { parameters, tool } from "../Tool.js"

const keysOfPage = 30

export const secretFind = tool({
  name: "secret_find",
  title: "Find a key",
  description:
    "Returns where keys are that contain a text, in all projects and environments of the organization that you may list, without values; those that begin with it come first. " +
    "Where pagination.has_next is true, call again with after set to pagination.next_cursor, even if the page is empty. Use it when you know a key's name or a part of it, but not its place.",
  hints: reads,
  when: { extra: true },
  parameters: parameters({
    query: KeyQuery,
    limit: optional(
      Schema.typeSchema(LimitParameter).annotations({ description: `at most this many; default ${keysOfPage}` })
    ),
    after: optional(KeyCursor)
  }),
  at: "org",
  // It reads of every place: with SERVICE_MCP_PIN, there is only one.
  about: () => ({ project: "*", env: "*" }),
  output: FoundKeyPage,
  run: (call, path, { after, limit = keysOfPage, query }) =>
    call("keys", (api) => api.find({ path, urlParams: { query, limit, ...(after !== undefined && { after }) } }))
})

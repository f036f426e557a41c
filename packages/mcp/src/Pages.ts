import { Count, integerParameter, optional } from "@coffer/domain/base/Schemas"
import * as Schema from "effect/Schema"

interface PageParameters {
  readonly prefix?: string
  readonly limit?: number
  readonly after?: string
}

/**
 * Cuts a list of the API into pages, sorted by name. The API returns such lists whole, and a long one would fill the context of
 * an agent. The cursor is the last name of a page, so that it holds while entries come and go.
 *
 * @param size the entries of a page by default: about 2,000 tokens
 * @param by what `prefix` is compared with
 */
export const pages = <A, I, Item extends A = A>({
  item,
  nameOf,
  by,
  size
}: {
  readonly item: Schema.Schema<A, I>
  readonly nameOf: (item: Item) => string
  readonly by: string
  readonly size: number
}) => ({
  parameters: {
    prefix: optional(Schema.String.annotations({ description: `only those whose ${by} starts with this` })),
    limit: optional(
      Schema.typeSchema(integerParameter(1, 500)).annotations({ description: `at most this many; default ${size}` })
    ),
    after: optional(Schema.String.annotations({ description: "next_cursor of the previous page" }))
  },
  output: Schema.Struct({
    data: Schema.Array(item),
    /** The number of entries on all pages. */
    total: Count,
    next_cursor: Schema.NullOr(Schema.String)
  }),
  page: (items: ReadonlyArray<Item>, { after, limit = size, prefix = "" }: PageParameters) => {
    const named = items.map((item) => ({ item, name: nameOf(item) }))
    const found = named.filter(({ name }) => name.startsWith(prefix)).sort((a, b) => (a.name < b.name ? -1 : 1))
    const rest = after === undefined ? found : found.filter(({ name }) => name > after)
    const data = rest.slice(0, limit)
    const next_cursor = rest.length > limit ? (data.at(-1)?.name ?? null) : null
    return { data: data.map(({ item }) => item), total: found.length, next_cursor }
  }
})

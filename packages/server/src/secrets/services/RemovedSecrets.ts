import type { SecretKey } from "@coffer/domain/base/Names"
import { paginationOf } from "@coffer/domain/base/Pagination"
import type { SecretListed } from "@coffer/domain/secrets/Secret"
import * as Effect from "effect/Effect"
import type { Place } from "../../access/Access.js"
import { withinKeys } from "../../access/AllowedKeys.js"
import { pacing } from "../../base/EventLoop.js"
import { method } from "../../base/tracing/Traced.js"
import { removedRepo, type RemovedRow } from "../stored/RemovedRepo.js"
import { Versions } from "../stored/Versions.js"

const defaultLimit = 100
/** How many keys one statement looks at, of which new secrets may have some. */
const keysAtOnce = 101

interface Request {
  readonly key?: SecretKey
  readonly limit?: number
  readonly after?: string
}

/** The smallest text after a key: a hyphen is the smallest character of keys. */
const after = (key: SecretKey): string => `${key}-`

const listed = ({ key, removed_at, removed_by, updated_at, version }: RemovedRow): SecretListed => ({
  key,
  version,
  updated_at,
  removed_at,
  removed_by
})

/** Lists the removed secrets that can be restored. */
export class RemovedSecrets extends Effect.Service<RemovedSecrets>()("@coffer/server/RemovedSecrets", {
  effect: Effect.gen(function* () {
    const repo = yield* removedRepo
    const { checkNewest } = yield* Versions

    /** A page of the removed keys that no new secret has, in byte order; only of `key`, if given. */
    const list = method("RemovedSecrets.list", function* (place: Place<"secret.list">, request: Request) {
      const { key, limit = defaultLimit } = request
      const found: Array<RemovedRow> = []
      const pace = pacing()
      const most = key === undefined ? keysAtOnce : 1
      for (let from: string = key ?? request.after ?? ""; found.length <= limit;) {
        const rows = yield* repo.page({ envId: place.env.id, from, limit: most })
        for (const row of withinKeys(place, rows)) if (row.in_use === 0 && row.key === (key ?? row.key)) found.push(row)
        const last = rows.at(-1)
        if (last === undefined || rows.length < keysAtOnce) break
        from = after(last.key)
        yield* pace
      }
      const shown = found.slice(0, limit)
      for (const row of shown) yield* checkNewest(place, row)
      const last = found.length > limit ? shown.at(-1) : undefined
      return {
        data: shown.map(listed),
        pagination: paginationOf(limit, last === undefined ? null : after(last.key))
      }
    })

    return { list } as const
  }),
  dependencies: [Versions.Default]
}) {}

import type { SecretKey } from "@coffer/domain/base/Names"
import type { SecretVersion } from "@coffer/domain/secrets/Secret"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import type { Place } from "../../access/Access.js"
import { mapInSlices } from "../../base/EventLoop.js"
import { method } from "../../base/tracing/Traced.js"
import { kindOf } from "../../keys/Envelope.js"
import { makeDigests } from "../stored/Digests.js"
import { historyRepo, type WholeVersionRow } from "../stored/HistoryRepo.js"
import { secretNotFound } from "../stored/NotThere.js"
import { Versions } from "../stored/Versions.js"
import { Comparisons } from "./Comparisons.js"
import { defaultLimit, secretVersion, type VersionPage } from "./History.js"

/** How many versions one statement reads: each may have a value of 64 KB. */
const rowsAtOnce = 50

/** The lowest of 0, 8, 16, 32 and so on that a length does not exceed. */
export const lengthClass = (bytes: number): number => (bytes === 0 ? 0 : Math.max(8, 2 ** Math.ceil(Math.log2(bytes))))

/** Compares each version of a secret with the one before, without returning values. */
export class ComparedVersions extends Effect.Service<ComparedVersions>()("@coffer/server/ComparedVersions", {
  effect: Effect.gen(function* () {
    const history = yield* historyRepo
    const comparisons = yield* Comparisons
    const sealed = yield* Versions

    /** Lists versions as `History.versions` does, each with the class of its length and whether its value is as before. */
    const list = method(
      "ComparedVersions.list",
      function* (place: Place<"secret.compare">, key: SecretKey, page: VersionPage) {
        const current = yield* history.findCurrent({ envId: place.env.id, key })
        if (current === undefined) return yield* secretNotFound(key)
        const { id } = current
        yield* sealed.checkNewest(place, { ...current, key })
        yield* comparisons.admit(place, { resource_type: "secret", resource_id: id, metadata: { key } })
        const { before = Number.MAX_SAFE_INTEGER, limit = defaultLimit } = page
        const digestOf = makeDigests()

        /** The digest of a value; null if it has none any more, or does not decrypt, which must not hide the others. */
        const digestsOf = Effect.fnUntraced(function* (rows: ReadonlyArray<WholeVersionRow>) {
          const opened = yield* mapInSlices(rows, (row) =>
            row.destroyed_at === null
              ? Either.map(sealed.opened(place, { id, key, version: row.version }, row), (value) =>
                  digestOf(kindOf(row), value)
                )
              : Either.right(null)
          )
          const altered = opened.flatMap((one) => (Either.isLeft(one) ? [one.left] : []))
          yield* Effect.forEach(altered, (one) => Effect.ignore(sealed.failed(one)), { discard: true })
          return opened.map(Either.getOrNull)
        })

        const versionOf = secretVersion(current.version)
        /** One more than the page has: its last version is compared with that one. Without the rows, so that their values go. */
        const found: Array<{ readonly version: SecretVersion; readonly digest: string | null }> = []
        for (let from = before; found.length <= limit;) {
          const most = Math.min(rowsAtOnce, limit + 1 - found.length)
          const rows = yield* history.sealedVersions({ id, before: from, limit: most })
          const digests = yield* digestsOf(rows)
          for (const [index, row] of rows.entries()) {
            const bytes = row.destroyed_at === null ? { bytes_up_to: lengthClass(row.value_bytes) } : {}
            found.push({ version: { ...versionOf(row), ...bytes }, digest: digests[index] ?? null })
          }
          const last = rows.at(-1)
          if (last === undefined || rows.length < most) break
          from = last.version
        }
        return found.slice(0, limit).map(({ digest, version }, index): SecretVersion => {
          const earlier = found[index + 1]?.digest ?? null
          return { ...version, same: digest === null || earlier === null ? null : digest === earlier }
        })
      }
    )

    return { list } as const
  }),
  dependencies: [Comparisons.Default, Versions.Default]
}) {}

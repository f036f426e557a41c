import { maxRecordsAtOnce } from "@coffer/domain/archive/Calls"
import type { ArchivedVersion } from "@coffer/domain/archive/ArchivedSecret"
import { exportCursorOf, type ExportPosition, exportPositionOf } from "@coffer/domain/archive/Export"
import type { ExportId, SecretId } from "@coffer/domain/base/Ids"
import type { UseTerms } from "@coffer/domain/secrets/UseRule"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import type * as Schema from "effect/Schema"
import { type Place, sourceOf } from "../../access/Access.js"
import { AuditLog } from "../../audit/AuditLog.js"
import { mapInSlices } from "../../base/EventLoop.js"
import { now } from "../../base/Time.js"
import { method } from "../../base/tracing/Traced.js"
import { Database } from "../../database/Database.js"
import { kindOf, type Value } from "../../keys/Envelope.js"
import { missingEnvironment, secretsRepo } from "../stored/Repo.js"
import { Versions } from "../stored/Versions.js"
import { useRulesArchive } from "../use-rules/Archive.js"
import { type VersionRow, versionsAfter } from "./ExportRepo.js"

/** The most JSON of a page, in bytes. Its first record is in it in any case. */
const maxPageBytes = 8 * 1024 * 1024

type Rules = ReadonlyMap<SecretId, ReadonlyArray<UseTerms>>

/** An export that the caller may read. */
interface Readable {
  readonly id: ExportId
  readonly versions: 0 | 1
}

/** A page whose records are JSON. */
export interface ExportedPage {
  readonly revision: number
  readonly records: ReadonlyArray<Buffer>
  readonly next: string | null
}

const currentOf = ({ expires_at, id, owner, rotate_every_days }: VersionRow, rules: Rules) => ({
  ...(expires_at !== null && { expires_at }),
  ...(rotate_every_days !== null && { rotate_every_days }),
  ...(owner !== null && { owner }),
  use_rules: rules.get(id) ?? []
})

/** A version as an archive has it. Without a value, it is a mark that the version existed. */
const archived = (
  row: VersionRow,
  value: Value | undefined,
  rules: Rules,
  at: string
): Schema.Schema.Encoded<typeof ArchivedVersion> => ({
  key: row.key,
  version: row.version,
  ...(kindOf(row) === "reference" && { kind: "reference" }),
  ...(value === undefined ? { destroyed_at: row.destroyed_at ?? at } : { value: Redacted.value(value) }),
  created_at: row.created_at,
  created_by: row.created_by,
  ...(row.revision > 0 && { revision: row.revision }),
  ...(row.note !== null && { note: row.note }),
  ...(row.current === 1 && { current: currentOf(row, rules) })
})

/** Reads the secrets of an environment for an archive. */
export class ExportedSecrets extends Effect.Service<ExportedSecrets>()("@coffer/server/ExportedSecrets", {
  effect: Effect.gen(function* () {
    const rowsAfter = yield* versionsAfter
    const stored = yield* secretsRepo
    const useRules = yield* useRulesArchive
    const versions = yield* Versions
    const audit = yield* AuditLog
    const { snapshot } = yield* Database

    /** One row more than a page has, as of one moment. */
    const read = (place: Place<"secret.read">, position: ExportPosition) =>
      snapshot(
        Effect.gen(function* () {
          const { id, name } = place.env
          const known = (yield* stored.revision({ envId: id })) ?? (yield* missingEnvironment(name))
          const rows = yield* rowsAfter({ envId: id, ...position, limit: maxRecordsAtOnce + 1 })
          return { revision: known.revision, rows, rules: yield* useRules.read(id) } as const
        })
      )

    /** A page of an environment after a position. Each makes the entry of a read. */
    const page = method(
      "ExportedSecrets.page",
      function* (place: Place<"secret.read">, exported: Readable, after: string | undefined) {
        const { revision, rows, rules } = yield* read(place, exportPositionOf(after))
        for (const row of rows) yield* versions.checkNewest(place, row)
        const some = rows.slice(0, maxRecordsAtOnce)
        const shown = some.filter((row) => row.destroyed_at === null && (row.current === 1 || exported.versions === 1))
        const opened = yield* versions.openAll(place, shown)
        const values = new Map(shown.map((row, index) => [row, opened[index]]))
        const at = yield* now
        let bytes = 0
        const encoded = yield* mapInSlices(some, (row) => {
          const json = Buffer.from(JSON.stringify(archived(row, values.get(row), rules, at)))
          bytes += json.length
          return { row, json, isWithin: bytes <= maxPageBytes }
        })
        const fitting = encoded.filter(({ isWithin }, index) => isWithin || index === 0)
        yield* audit.seen(sourceOf(place), {
          action: "secret.read",
          resource_type: "env",
          resource_id: place.env.id,
          metadata: {
            revision,
            export: exported.id,
            keys: fitting.flatMap(({ row }) => (values.has(row) ? [{ key: row.key, version: row.version }] : []))
          }
        })
        const last = fitting.at(-1)
        const found: ExportedPage = {
          revision,
          records: fitting.map(({ json }) => json),
          next: last === undefined || fitting.length === rows.length ? null : exportCursorOf(last.row)
        }
        return found
      }
    )

    return { page } as const
  }),
  dependencies: [Versions.Default]
}) {}

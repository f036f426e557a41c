import { createSecretKey } from "node:crypto"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { listColumns, ListRow, listWalk } from "../../audit/ListCheck.js"
import type { Settings } from "../../base/Config.js"
import { makeKeyring, unwrapBytes } from "../../keys/Keyring.js"
import { emptyList, endIn } from "../../keys/ListEnd.js"
import { NamedWrappedRow } from "../../keys/WrappedRows.js"
import { failed, type Finding } from "./Finding.js"

export const listedLogs = `SELECT ${listColumns} FROM audit_logs l ORDER BY l.number`

const next = "docs/operations/changed-audit-log.md"

/**
 * Checks the list of audit logs, and that each of them exists, with the rows of `wrapped_keys` from the same moment. Entries are
 * not verified. Without the keys it finds nothing: the check of the master key says why.
 */
export const logsFindings = (
  keys: ReadonlyArray<unknown>,
  logs: ReadonlyArray<unknown>,
  settings: Settings
): Effect.Effect<ReadonlyArray<Finding>> =>
  Effect.gen(function* () {
    const keyring = yield* makeKeyring(settings.masterKey)
    const wrapped = new Map(
      (yield* Schema.decodeUnknown(Schema.Array(NamedWrappedRow))(keys)).map((row) => [row.name, row] as const)
    )
    const opened = (name: string) =>
      Effect.flatMap(Effect.fromNullable(wrapped.get(name)), (row) => unwrapBytes(keyring, name, row))
    const walk = listWalk(createSecretKey(yield* opened("audit")))
    for (const row of yield* Schema.decodeUnknown(Schema.Array(ListRow))(logs)) walk.add(row)
    const { firstInvalid, missing } = walk.close((yield* endIn(yield* opened("check"))) ?? emptyList)
    const problems = [
      ...(missing.length > 0 ? [`the whole audit log is missing of ${missing.slice(0, 10).join(", ")}`] : []),
      ...(firstInvalid === null ? [] : [`the list of audit logs was changed at number ${firstInvalid}`])
    ]
    return problems.length === 0 ? [] : [failed("audit", problems.join("; "), next)]
  }).pipe(Effect.orElseSucceed(() => []))

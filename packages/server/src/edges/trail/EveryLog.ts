import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { operator } from "../../access/ServerPlace.js"
import { query } from "../../database/Query.js"
import { Trail } from "./Trail.js"

const LogRow = Schema.Struct({ log: Schema.String })

/** Verifies every audit log from its first entry to its head, and their list. Returns the number of logs, and the problems. */
export const verifyEveryLog = Effect.gen(function* () {
  const { all } = yield* query
  const everyLog = all(LogRow)`
    SELECT log FROM audit_heads UNION SELECT log FROM audit_entries UNION SELECT log FROM audit_logs
    UNION SELECT id AS log FROM organizations`
  const trail = yield* Trail
  const proof = yield* operator
  const problems: Array<string> = []
  const logs = yield* everyLog({})
  for (const { log } of logs) {
    const { first_invalid_seq, valid } = yield* trail.verifyLog(proof, log)
    if (!valid) problems.push(`audit log ${log} does not verify from entry ${first_invalid_seq ?? "0"} on`)
  }
  const { firstInvalid } = yield* trail.verifyList(proof)
  if (firstInvalid !== null) problems.push(`the list of audit logs does not verify from log ${firstInvalid} on`)
  return { logs: logs.length, problems } as const
})

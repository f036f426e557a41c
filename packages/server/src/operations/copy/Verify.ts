import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import { verifyEveryLog } from "../../edges/trail/EveryLog.js"
import { Trail } from "../../edges/trail/Trail.js"
import { open } from "../../keys/Envelope.js"
import { InstanceLive } from "../../keys/Instance.js"
import { Keyring } from "../../keys/Keyring.js"
import { versionOf } from "../rotation/RotatedVersions.js"
import { StartupError } from "../../base/StartupError.js"
import { query } from "../../database/Query.js"

/** How many values are decrypted. */
const sampleSize = 100

const VersionRow = Schema.Struct({ secret_id: Schema.String, version: Schema.Number })

/** Verifies every audit log. Returns the number of logs. */
const verifyLogs = Effect.flatMap(verifyEveryLog, ({ logs, problems: [first] }) =>
  first === undefined
    ? Effect.succeed(logs)
    : new StartupError({ message: `${first}: see docs/operations/changed-audit-log.md` })
)

/** Decrypts values that are chosen at random. Returns their number. */
const decryptSample = Effect.gen(function* () {
  const keyring = yield* Keyring
  const { all } = yield* query
  const chosen = all(VersionRow)`
    SELECT secret_id, version FROM secret_versions WHERE destroyed_at IS NULL ORDER BY random() LIMIT ${"limit"}`
  const find = yield* versionOf
  const sample = yield* chosen({ limit: sampleSize })
  for (const { secret_id, version } of sample) {
    const failed = new StartupError({ message: `version ${version} of secret ${secret_id} does not open` })
    const found = yield* find(secret_id, version)
    if (found === undefined) return yield* failed
    yield* Effect.mapError(open(keyring, found.binding, found.row), () => failed)
  }
  return sample.length
})

export interface Verified {
  readonly logs: number
  readonly values: number
}

/** Verifies a copied database: the master key, every audit log, and a sample of the values. */
export const verifyCopy = Effect.all({ logs: verifyLogs, values: decryptSample }).pipe(
  Effect.provide(Layer.provide(Trail.Default, InstanceLive))
)

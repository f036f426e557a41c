import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import { type DatabasePlace, placeName } from "../../base/config/DatabasePlace.js"
import { beginEpoch } from "../rotation/BeginEpoch.js"
import { Keyring, KeyringLive } from "../../keys/Keyring.js"
import { StartupError } from "../../base/StartupError.js"
import { copyTables, countsOf, countTables, type Step } from "../../database/copy/CopyTables.js"
import { destinationOf } from "./Destination.js"
import { checkKey, originOf } from "./Origin.js"
import { stopPushes } from "../../secrets/delivery/StoppedPushes.js"
import { pauseRotations } from "../../secrets/rotations/PausedRotations.js"
import { progressOn, silent } from "../../database/copy/Progress.js"
import { copied } from "../../database/copy/Tables.js"
import { verifyCopy } from "./Verify.js"

export interface CopyOptions {
  readonly from: DatabasePlace
  readonly to: DatabasePlace
  readonly dryRun: boolean
  readonly json: boolean
}

const unchanged = (to: string) => (error: { readonly reason: string }) =>
  new StartupError({ message: `the copy failed (${error.reason}): ${to} is as it was before` })

const onStandardError = (): Step =>
  progressOn({
    isTerminal: process.stderr.isTTY,
    write: (text) => {
      process.stderr.write(text)
    }
  })

const sum = (rows: Readonly<Record<string, number>>): number => Object.values(rows).reduce((all, some) => all + some, 0)

/**
 * `coffer-server database copy`: copies a stopped database into an empty one, of the same engine or the other, and verifies the copy
 * before it is committed. The source is not changed, and a failure leaves the target as it was before.
 */
export const copyDatabase = ({ dryRun, from, json, to }: CopyOptions) =>
  Effect.gen(function* () {
    const keyring = yield* Keyring
    const names = { from: placeName(from), to: placeName(to) }
    const { leave, source, stillStopped } = yield* originOf(from)
    const destination = yield* destinationOf(to)
    yield* destination.check
    yield* checkKey(source)
    if (dryRun) {
      const rows = countsOf(yield* countTables(source, copied(source.tables)))
      return yield* Console.log(
        json
          ? JSON.stringify({ ...names, dry_run: true, rows })
          : `${sum(rows)} rows in ${Object.keys(rows).length} tables can be copied from ${names.from} to ${names.to}: nothing was changed`
      )
    }
    yield* leave
    const [rows, { ended, verified }] = yield* destination.write({
      fill: (target) => copyTables(source, target, json ? silent : onStandardError()),
      finish: Effect.gen(function* () {
        const verified = yield* verifyCopy
        const ended = yield* beginEpoch
        yield* stopPushes
        yield* pauseRotations
        yield* stillStopped
        return { verified, ended }
      }).pipe(Effect.provideService(Keyring, keyring))
    })
    if (json) {
      return yield* Console.log(JSON.stringify({ ...names, dry_run: false, rows, verified, ended }))
    }
    yield* Console.log(
      `copied ${sum(rows)} rows in ${Object.keys(rows).length} tables from ${names.from} to ${names.to}`
    )
    yield* Console.log(
      `verified the row counts, the master key, ${verified.logs} audit logs from their first entry to their head, and ${verified.values} values chosen at random`
    )
    yield* Console.log(
      `${ended.sessions} sessions and ${ended.codes} pending login codes were ended; API keys stay valid`
    )
  }).pipe(Effect.catchTag("CopyFailed", unchanged(placeName(to))), Effect.scoped, Effect.provide(KeyringLive))

import { readdirSync } from "node:fs"
import { dirname, join } from "node:path"
import { offlineSession } from "@coffer/server/operations/offline/OfflineSession"
import { applyRestore } from "@coffer/server/operations/backups/Apply"
import { rotate } from "@coffer/server/operations/rotation/Rotation"
import { assert, describe, it } from "@effect/vitest"
import Sqlite from "better-sqlite3"
import { Console, Effect, Exit, Redacted, TestClock } from "effect"
import { failingStatement } from "../support/FailingDriver.js"
import {
  configAt,
  email,
  freshPath,
  invariants,
  masterKey,
  organization,
  servicesAt,
  setSecret
} from "../support/Services.js"
import { isSoak } from "../../../domain/test/support/Runs.js"

const newKey = "f0".repeat(32)

/** In short, not every statement of the openings is met, which are the same for all. */

const at = <A, E, R>(path: string, effect: Effect.Effect<A, E, R>, key = masterKey) =>
  Effect.scoped(Effect.provide(effect, servicesAt(path, { SERVICE_MASTER_KEY: key })))

const filled = (path: string) =>
  at(
    path,
    Effect.flatMap(organization(), (ada) => setSecret(ada, "A", "kept"))
  )

const query = (path: string, text: string): ReadonlyArray<unknown> => {
  const database = new Sqlite(path, { readonly: true })
  const rows = database.prepare(text).pluck().all()
  database.close()
  return rows
}

/** The database opens with one key, holds what it should, and everything that always holds does: every value opens. */
const assertWhole = (path: string, key = masterKey) =>
  Effect.zipLeft(
    invariants(path, key),
    Effect.sync(() => {
      assert.deepStrictEqual(query(path, "SELECT key FROM secrets"), ["A"])
    })
  )

/** Nothing is left beside a database but what SQLite and the lock leave there. */
const strays = (path: string) => readdirSync(dirname(path)).filter((name) => name.startsWith("."))

/**
 * Runs a command once for each of its statements, in which that one fails, until none does; looks at what is left each time.
 * Answers how often it failed, and what failed without it.
 */
const eachStatementFails = <A, E, R, E2, R2>(
  command: Effect.Effect<A, E, R>,
  { from, stride }: { readonly from: number; readonly stride: number },
  look: (exit: Exit.Exit<A, E>, statement: string) => Effect.Effect<void, E2, R2>
) =>
  Effect.gen(function* () {
    const seen = { failed: 0, endured: 0 }
    for (let nth = 1; ; nth += isSoak || nth >= from ? 1 : stride) {
      const { exit, statement } = yield* failingStatement(nth, command)
      if (statement === undefined) {
        assert.isTrue(Exit.isSuccess(exit), String(exit))
        return seen
      }
      if (Exit.isSuccess(exit)) seen.endured++
      else {
        seen.failed++
        assert.notInclude(String(exit), masterKey)
      }
      yield* look(exit, statement)
    }
  })

const silently = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.flatMap(Console.consoleWith(Effect.succeed), (console) =>
    Effect.withConsole(effect, { ...console, log: () => Effect.void, error: () => Effect.void })
  )

describe("a statement that fails, whichever it is,", () => {
  it.scoped("of the first start leaves what the next start makes a database of", () =>
    Effect.gen(function* () {
      let path = yield* freshPath
      const start = Effect.suspend(() => at(path, Effect.void))
      const { failed } = yield* eachStatementFails(start, { from: Infinity, stride: 8 }, () =>
        Effect.gen(function* () {
          yield* at(path, Effect.void)
          yield* invariants(path)
          path = yield* freshPath
        })
      )
      assert.isAbove(failed, 8)
    })
  )

  it.scoped("of coffer-server session makes a session whose token is returned, or no session", () =>
    Effect.gen(function* () {
      const path = yield* freshPath
      yield* filled(path)
      const session = offlineSession(email("new@example.com")).pipe(Effect.provide(configAt(path)), Effect.scoped)
      let sessions = 0
      const { endured, failed } = yield* eachStatementFails(session, { from: 24, stride: 6 }, (exit, statement) =>
        Effect.gen(function* () {
          if (Exit.isSuccess(exit)) sessions++
          assert.strictEqual(query(path, "SELECT id FROM sessions").length, sessions, statement)
          const users = query(path, "SELECT id FROM users WHERE email = 'new@example.com'").length
          assert.strictEqual(users, Math.min(sessions, 1), statement)
          yield* assertWhole(path)
        })
      )
      assert.isAbove(failed, 10)
      assert.isAbove(endured, 0, "its audit entry alone never fails it")
    })
  )

  it.scoped("of restore --apply leaves the one database or the other, whole", () =>
    Effect.gen(function* () {
      const path = yield* freshPath
      yield* filled(path)
      const file = join(dirname(path), "restored.db")
      new Sqlite(path).exec(`VACUUM INTO '${file}'`).close()
      const epochOf = () => query(path, "SELECT epoch FROM instance")[0]
      let epoch = epochOf()
      const seen = { kept: 0, swapped: 0 }
      const apply = silently(applyRestore(file)).pipe(Effect.provide(configAt(path)))
      const { failed } = yield* eachStatementFails(apply, { from: 24, stride: 6 }, (exit, statement) =>
        Effect.gen(function* () {
          const isSwapped = epochOf() !== epoch
          assert.strictEqual(isSwapped, Exit.isSuccess(exit), statement)
          seen[isSwapped ? "swapped" : "kept"]++
          epoch = epochOf()
          // The replaced database is kept under a name with the time.
          yield* TestClock.adjust("1 seconds")
          assert.deepStrictEqual(strays(path), [], statement)
          yield* assertWhole(path)
        })
      )
      assert.isAbove(failed, 20)
      assert.isAbove(
        seen.swapped,
        0,
        "what is only told, and the settling of what is replaced, are no reason to refuse"
      )
    })
  )

  it.scoped("of a rotation leaves the old key in force, or the new one, which was shown", () =>
    Effect.gen(function* () {
      const path = yield* freshPath
      yield* filled(path)
      let [inForce, shown] = [masterKey, ""]
      const rotation = Effect.suspend(() => {
        shown = ""
        return rotate({
          db: path,
          oldKey: Redacted.make(inForce),
          newKey: Redacted.make(inForce === masterKey ? newKey : masterKey),
          publish: (key) => Effect.sync(() => void (shown = Redacted.value(key))),
          progress: () => Effect.void
        })
      })
      const seen = { notRewritten: 0 }
      const { failed } = yield* eachStatementFails(rotation, { from: 24, stride: 6 }, (exit, statement) =>
        Effect.gen(function* () {
          if (Exit.isSuccess(exit)) {
            assert.notStrictEqual(shown, "", statement)
            if (exit.value.inGaps !== null) seen.notRewritten++
            inForce = shown
          }
          yield* assertWhole(path, inForce)
        })
      )
      assert.isAbove(failed, 10)
      assert.isAbove(seen.notRewritten, 0, "the file cannot be written anew, which is told")
    })
  )
})

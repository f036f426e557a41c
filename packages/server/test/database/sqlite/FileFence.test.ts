import { copyFileSync, renameSync, rmSync } from "node:fs"
import { Database } from "@coffer/server/database/Database"
import { Superseded } from "@coffer/server/database/Superseded"
import { assert, describe, it } from "@effect/vitest"
import { Cause, Effect, Exit } from "effect"
import { freshPath, organization, readSecret, servicesAt, setSecret } from "../../support/Services.js"

/** Changes that a person may make to the files of a running server. */
const ways: Readonly<Record<string, (path: string) => void>> = {
  "is replaced by another file": (path) => {
    copyFileSync(path, `${path}.other`)
    renameSync(path, `${path}.old`)
    renameSync(`${path}.other`, path)
  },
  "is moved away": (path) => {
    renameSync(path, `${path}.old`)
  },
  "loses its lock": (path) => {
    rmSync(`${path}.lock`)
  }
}

describe("a database file that", () => {
  for (const [what, change] of Object.entries(ways)) {
    it.scopedLive(`${what} beneath a server gets no more writes, and the server learns of it`, () =>
      Effect.gen(function* () {
        const path = yield* freshPath
        yield* Effect.gen(function* () {
          const { superseded, unready } = yield* Database
          const ada = yield* organization()
          yield* setSecret(ada, "A", "one")
          assert.isNull(yield* unready)
          change(path)
          const exit = yield* Effect.exit(setSecret(ada, "A", "two"))
          assert.instanceOf(Exit.isFailure(exit) ? Cause.squash(exit.cause) : null, Superseded)
          assert.strictEqual((yield* readSecret(ada, "A")).value, "one")
          assert.match((yield* unready) ?? "", /went on without this server/)
          const { mayRestart, message } = yield* superseded
          assert.isTrue(mayRestart)
          assert.match(message, /because \S+ was replaced or removed while it ran/)
        }).pipe(Effect.provide(servicesAt(path)))
      })
    )
  }
})

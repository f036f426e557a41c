import { spawnSync } from "node:child_process"
import { existsSync } from "node:fs"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { freshDatabase } from "../support/postgres/Databases.js"
import { freshPath, masterKey, organization, servicesAt, setSecret } from "../support/Services.js"

const bin = fileURLToPath(new URL("../../bin/coffer-server.js", import.meta.url))

const run = (folder: string, args: ReadonlyArray<string>, variables: Readonly<Record<string, string>> = {}) =>
  Effect.sync(() =>
    spawnSync(process.execPath, [bin, "database", ...args], {
      cwd: folder,
      encoding: "utf8",
      env: { PATH: process.env["PATH"], SERVICE_MASTER_KEY: masterKey, ...variables }
    })
  )

const password = "hunter2"

describe("coffer-server database copy", () => {
  it.live(
    "takes a URL from a variable, tells its progress in lines where there is no terminal, and shows no password",
    () =>
      Effect.gen(function* () {
        const path = yield* freshPath
        yield* Effect.flatMap(organization(), (ada) => setSecret(ada, "A", "one")).pipe(
          Effect.provide(servicesAt(path)),
          Effect.scoped
        )
        const folder = dirname(path)
        const { url } = yield* freshDatabase({ migrated: false })
        const variables = { TARGET: url.replace("coffer@", `coffer:${password}@`) }

        const moved = yield* run(folder, ["copy", "--from", path, "--to", "env:TARGET"], variables)
        assert.strictEqual(moved.status, 0, moved.stderr)
        assert.match(
          moved.stdout,
          /^copied \d+ rows in \d+ tables from .*service\.db to test_\w+ at 127\.0\.0\.1:\d+\nverified/
        )
        assert.match(moved.stderr, /^copied [\d,]+ of [\d,]+ rows$/m)
        assert.notMatch(moved.stderr, /\[#|\r/)

        const again = yield* run(folder, ["copy", "--from", path, "--to", "env:TARGET"], variables)
        assert.strictEqual(again.status, 1)
        assert.match(again.stderr, /is not empty/)

        const back = yield* run(folder, ["copy", "--from", "env:TARGET", "--to", "back.db", "--json"], variables)
        assert.strictEqual(back.status, 0, back.stderr)
        assert.include(JSON.parse(back.stdout), { to: "back.db", dry_run: false })
        assert.notMatch(back.stderr, /copied/)
        assert.isTrue(existsSync(join(folder, "back.db")))
        for (const { stderr, stdout } of [moved, again, back]) assert.notInclude(stdout + stderr, password)
      }).pipe(Effect.scoped)
  )

  it.live("refuses wrong arguments with 2 and names the wrong one, but no URL", () =>
    Effect.gen(function* () {
      const folder = dirname(yield* freshPath)
      const refused = (args: ReadonlyArray<string>) =>
        Effect.map(run(folder, args), ({ status, stderr }) => {
          assert.strictEqual(status, 2)
          assert.notInclude(stderr, password)
          return stderr
        })
      assert.match(yield* refused(["copy", "--from", "a.db"]), /takes --from and --to/)
      assert.match(yield* refused(["move"]), /takes --from and --to/)
      assert.match(
        yield* refused(["copy", "--from", "a.db", "--to", "env:NOBODY"]),
        /--to names the variable NOBODY, which is not set/
      )
      assert.match(
        yield* refused(["copy", "--from", "a.db", "--to", `postgres://u:${password}@h:x/d`]),
        /--to must be postgres:/
      )
    }).pipe(Effect.scoped)
  )
})

import { spawnSync } from "node:child_process"
import { readFileSync, readdirSync } from "node:fs"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { fileURLToPath } from "node:url"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import type { Client } from "pg"
import { afterAll } from "vitest"
import { finished } from "../support/Finished.js"
import { freshDatabase, onServer } from "../support/postgres/Databases.js"
import { cleanUp, freshFolder, masterKey, Program } from "../support/Program.js"

// A server that was paused for long enough counts as stopped. What it does when it goes on must not land in a database that
// went on without it: under another key, as a copy, filled by a restore, or with a schema that it does not know.

const cli = fileURLToPath(new URL("../../../cli/bin/coffer.js", import.meta.url))
const bin = fileURLToPath(new URL("../../bin/coffer-server.js", import.meta.url))
const secret = "/api/orgs/acme/projects/webshop/envs/prod/secrets/A"

afterAll(cleanUp)

const command = (
  words: ReadonlyArray<string>,
  variables: Readonly<Record<string, string>> = {},
  folder = freshFolder()
) =>
  spawnSync(process.execPath, [bin, ...words], {
    cwd: folder,
    encoding: "utf8",
    env: { PATH: process.env["PATH"], SERVICE_MASTER_KEY: masterKey, ...variables }
  })

const query = <A>(name: string, use: (client: Client) => Promise<A>): Promise<A> =>
  Effect.runPromise(onServer(name, use))

/** Makes every heartbeat 31 seconds older, as if so much time had passed. */
const age = (name: string) =>
  query(name, (client) =>
    client.query(
      `UPDATE instances SET seen_at = to_char(seen_at::timestamptz AT TIME ZONE 'UTC' - interval '31 seconds', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`
    )
  )

/** All rows that a server could write, without what the jobs of others may change meanwhile. */
const contentOf = (name: string) =>
  query(name, async (client) => {
    const content: Array<unknown> = []
    for (const table of [
      "secret_versions",
      "secrets",
      "audit_entries",
      "sessions",
      "instances",
      "wrapped_keys",
      "jobs"
    ]) {
      content.push((await client.query(`SELECT to_jsonb(t) AS row FROM ${table} t ORDER BY to_jsonb(t)::text`)).rows)
    }
    return content
  })

const filled = async (url: string) => {
  const server = await Program.start({ SERVICE_DATABASE_URL: url, SUPERADMIN_EMAIL_0: "ada@example.com" })
  const token = await server.login("ada@example.com")
  await server.call("POST", "/api/orgs", { token, body: { name: "acme" } })
  await server.call("POST", "/api/orgs/acme/projects", { token, body: { name: "webshop" } })
  const put = await server.call("PUT", secret, { token, body: { value: "one" } })
  assert.strictEqual(put.status, 200, put.text)
  return { server, token }
}

/**
 * Lets a paused server go on, and sends it requests at once. Nothing of them may be written, it must not be ready, and it has to
 * end itself with a sentence.
 */
const goesOn = async (server: Program, token: string, name: string, sentence: RegExp) => {
  const before = await contentOf(name)
  const sent = [
    server.call("PUT", secret, { token, body: { value: "late" } }),
    server.call("GET", secret, { token }),
    server.call("POST", "/api/auth/login", { body: { email: "ada@example.com" } }),
    server.call("GET", "/health/ready")
  ].map((call) => call.catch(() => null))
  server.signal("SIGCONT")
  // A database without people knows no credential.
  const refused = token === "" ? [401, 503] : [503]
  for (const answer of await Promise.all(sent)) if (answer !== null) assert.oneOf(answer.status, refused, answer.text)
  const { code } = await server.ended
  assert.match(server.log, sentence)
  assert.deepStrictEqual(await contentOf(name), before)
  return code
}

describe("a server that was paused", () => {
  const scoped = (title: string, test: (database: { name: string; url: string }) => Promise<void>) => {
    it.live(title, () =>
      Effect.scoped(Effect.flatMap(freshDatabase(), (database) => Effect.promise(() => test(database))))
    )
  }

  scoped(
    "for half a minute writes nothing after the master key was rotated, and ends itself",
    async ({ name, url }) => {
      const { server, token } = await filled(url)
      server.signal("SIGSTOP")
      await sleep(31_000)
      const folder = freshFolder()
      const key = join(folder, "new.key")
      const rotated = await finished(folder, [cli, "master-key", "rotate", "--generate", "--db", url, "--out", key], {
        SERVICE_MASTER_KEY: masterKey
      })
      assert.strictEqual(rotated.code, 0, rotated.warned)
      const code = await goesOn(
        server,
        token,
        name,
        /because the master key was rotated .*: start it again with the new/
      )
      assert.strictEqual(code, 1)
      const other = await Program.start({
        SERVICE_DATABASE_URL: url,
        SERVICE_MASTER_KEY: readFileSync(key, "utf8").trim()
      })
      const read = await other.call("GET", secret, { token })
      assert.strictEqual(read.body.value, "one", read.text)
      await other.stop()
    }
  )

  scoped("writes nothing after the database was copied, and is not started again by itself", async ({ name, url }) => {
    const { server, token } = await filled(url)
    server.signal("SIGSTOP")
    const folder = freshFolder()
    const copying = () => command(["database", "copy", "--from", url, "--to", "copy.db"], {}, folder)
    assert.match(copying().stderr, /a server runs on the database/)
    await age(name)
    const dry = command(["database", "copy", "--from", url, "--to", "dry.db", "--dry-run"], {}, folder)
    assert.strictEqual(dry.status, 0, dry.stderr)
    const copied = copying()
    assert.strictEqual(copied.status, 0, copied.stderr)
    assert.deepInclude(readdirSync(folder), "copy.db")
    const code = await goesOn(
      server,
      token,
      name,
      /because the database was copied to another one .*: start it on the copy/
    )
    assert.strictEqual(code, 78)
    // To start one by hand is a decision.
    const again = await Program.start({ SERVICE_DATABASE_URL: url })
    assert.strictEqual((await again.call("GET", secret, { token })).body.value, "one")
    await again.stop()
  })

  scoped("writes nothing into a database that was filled by a restore meanwhile", async ({ name, url }) => {
    const source = await Program.start({ SERVICE_DB_PATH: "service.db" })
    await source.login("eve@example.com")
    await source.stop()
    const server = await Program.start({ SERVICE_DATABASE_URL: url })
    server.signal("SIGSTOP")
    await age(name)
    const restored = command(["restore", "--apply", source.file()], { SERVICE_DATABASE_URL: url })
    assert.strictEqual(restored.status, 0, restored.stderr)
    const code = await goesOn(server, "", name, /because a restore or a copy was written into the database/)
    assert.strictEqual(code, 1)
  })

  scoped("writes nothing after a newer release has made the schema unreadable for it", async ({ name, url }) => {
    const { server, token } = await filled(url)
    server.signal("SIGSTOP")
    // The effect of such a release's migration.
    await query(name, (client) =>
      client.query(`BEGIN; LOCK TABLE database_fence IN EXCLUSIVE MODE;
        UPDATE database_fence SET number = number + 1, why = 'migrated';
        UPDATE schema_info SET min_reader = 9999; COMMIT`)
    )
    const code = await goesOn(
      server,
      token,
      name,
      /because a newer release has migrated .*: start the newer coffer-server/
    )
    assert.strictEqual(code, 1)
  })

  scoped("finds out by itself, without a request", async ({ name, url }) => {
    const { server } = await filled(url)
    server.signal("SIGSTOP")
    await age(name)
    await query(name, (client) => client.query("UPDATE database_fence SET number = number + 1, why = 'rotated'"))
    server.signal("SIGCONT")
    assert.deepStrictEqual(await server.ended, { code: 1, signal: null })
  })

  scoped("in the middle of a change neither commits it nor holds a rotation up", async ({ name, url }) => {
    const { server, token } = await filled(url)
    // The change waits for a row that the test holds, while the server is paused.
    await query(name, async (client) => {
      await client.query("BEGIN; SELECT 1 FROM environments FOR UPDATE")
      void server.call("PUT", secret, { token, body: { value: "late" } }).catch(() => null)
      for (;;) {
        const { rows } = await client.query(
          "SELECT 1 FROM pg_locks WHERE relation = 'database_fence'::regclass AND mode = 'RowShareLock'"
        )
        if (rows.length > 0) break
        await sleep(10)
      }
      server.signal("SIGSTOP")
      await age(name)
      await client.query("COMMIT")
    })
    const folder = freshFolder()
    const rotated = await finished(
      folder,
      [cli, "master-key", "rotate", "--generate", "--db", url, "--out", join(folder, "new.key")],
      { SERVICE_MASTER_KEY: masterKey }
    )
    assert.strictEqual(rotated.code, 0, rotated.warned)
    const code = await goesOn(server, token, name, /because the master key was rotated/)
    assert.strictEqual(code, 1)
  })

  scoped("and holds a lock that never ends is named by the rotation", async ({ name, url }) => {
    const { server } = await filled(url)
    const id = await query(
      name,
      async (client) => (await client.query("SELECT id FROM instances")).rows[0].id as string
    )
    server.signal("SIGSTOP")
    await age(name)
    await query(name, async (client) => {
      await client.query(`SET application_name = 'coffer-server ${id}'`)
      await client.query("BEGIN; LOCK TABLE database_fence IN ROW SHARE MODE")
      const folder = freshFolder()
      const refused = await finished(
        folder,
        [cli, "master-key", "rotate", "--generate", "--db", url, "--out", join(folder, "new.key")],
        { SERVICE_MASTER_KEY: masterKey }
      )
      assert.strictEqual(refused.code, 1)
      assert.match(
        refused.warned,
        new RegExp(`is in use: process ${server.pid} on \\S+ has had a transaction open for \\d+ s`)
      )
      assert.match(refused.warned, /pg_terminate_backend\(\d+\)/)
      assert.notInclude(refused.warned, "coffer-server has had", "the rotation's own session holds nothing up")
    })
    server.signal("SIGCONT")
    await server.stop()
  })
})

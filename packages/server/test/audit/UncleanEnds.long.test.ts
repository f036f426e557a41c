import { afterAll, assert, describe, it } from "vitest"
import { isOnPostgres } from "../support/Services.js"
import { cleanUp, Program } from "../support/Program.js"

const settings = { SUPERADMIN_EMAIL_0: "root@example.com" }

afterAll(cleanUp)

const missing = async (program: Program, token: string) => {
  const { body } = await program.call("GET", "/api/audit-logs?action=audit.missing", { token })
  return body.data as ReadonlyArray<{ readonly metadata: Readonly<Record<string, unknown>> }>
}

/** On PostgreSQL, a server counts as silent after half a minute. */
const silence = `UPDATE instances SET seen_at = '2026-01-01T00:00:00.000Z'`

describe("the end of a server", () => {
  it("in order is no entry, and its death is one of the next start, which is written once", async () => {
    const first = await Program.start(settings)
    const { folder } = first
    const token = await first.login("root@example.com")
    await first.stop()
    const second = await Program.start(settings, folder)
    assert.deepStrictEqual(await missing(second, token), [])
    await second.call("GET", "/api/auth/me", { token })
    await second.stop("SIGKILL")
    if (isOnPostgres()) await second.execute(silence)
    const third = await Program.start(settings, folder)
    await third.said(/was killed after \S+: the audit entries of its last reads may be missing/)
    const [entry, ...others] = await missing(third, token)
    assert.lengthOf(others, 0)
    assert.deepInclude(entry?.metadata, { entries: null, pid: second.pid })
    await third.stop()
    const fourth = await Program.start(settings, folder)
    assert.lengthOf(await missing(fourth, token), 1)
    await fourth.remove()
  })

  it.skipIf(!isOnPostgres())("is not taken for one while it is paused", async () => {
    const paused = await Program.start(settings)
    const token = await paused.login("root@example.com")
    paused.signal("SIGSTOP")
    await paused.execute(
      "UPDATE instances SET seen_at = to_char((now() - interval '1 minute') AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS.MS\"Z\"')"
    )
    const other = await Program.start(settings, paused.folder)
    assert.deepStrictEqual(await missing(other, token), [])
    paused.signal("SIGCONT")
    assert.deepStrictEqual(await missing(paused, token), [])
    await paused.stop()
    await other.remove()
  })
})

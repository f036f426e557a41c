import { readFileSync, statSync } from "node:fs"
import { afterAll, assert, describe, it } from "vitest"
import { cleanUp, Program } from "../support/Program.js"
import { allEntries, linesIn, makeProject, secret, set, start, until } from "./Streamed.js"

afterAll(cleanUp)

describe.concurrent("the audit stream into a file", { timeout: 90_000 }, () => {
  it("has each committed entry once and in order, as the API shows it, without a value, across restarts", async () => {
    const first = await start()
    await makeProject(first.program, first.token)
    for (let at = 0; at < 5; at++) await set(first.program, first.token, `hunter2-${at}`)
    await first.program.call("GET", secret, { token: first.token })
    await until(() => readFileSync(first.file, "utf8").includes("secret.read"), "the read")
    await first.program.call("GET", secret, { token: first.token })
    assert.deepStrictEqual(await first.program.stop(), { code: 0, signal: null })
    const atTheEnd = linesIn(readFileSync(first.file, "utf8"))
    assert.lengthOf(
      atTheEnd.filter(({ action }) => action === "secret.read"),
      2,
      "the queue was flushed into it"
    )

    const { file, program, token } = await start(first.program.folder)
    await set(program, token, "hunter3")
    const expected = await allEntries(program, token)
    await until(() => linesIn(readFileSync(file, "utf8")).length === expected.length, "all entries")
    const lines = linesIn(readFileSync(file, "utf8"))
    assert.deepStrictEqual(
      lines.map(({ chain: _chain, ...entry }) => entry),
      expected
    )
    const { chain, seq } = lines.findLast(({ action }) => action === "secret.set")
    const kept = await program.call("GET", `/api/orgs/acme/audit-logs/verify?seq=${seq}&chain=${chain}`, { token })
    assert.strictEqual(kept.body.valid, true)
    assert.notInclude(readFileSync(file, "utf8"), "hunter")
    assert.strictEqual(statSync(file).mode & 0o777, 0o600)
    assert.strictEqual(statSync(`${program.file()}.audit-stream`).mode & 0o777, 0o600)
    await program.remove()
  })

  it("must be a regular file that can be opened, or the server does not start", async () => {
    const refusals = [
      ["/nowhere/audit.jsonl", /SERVICE_AUDIT_STREAM: \/nowhere\/audit\.jsonl cannot be opened \(ENOENT\)/],
      ["/dev/null", /SERVICE_AUDIT_STREAM: \/dev\/null is not a regular file/]
    ] as const
    const refused = await Promise.all(refusals.map(([file]) => Program.refused({ SERVICE_AUDIT_STREAM: file })))
    for (const [at, { code, log }] of refused.entries()) {
      assert.strictEqual(code, 1)
      assert.match(log, refusals[at]![1])
    }
  })
})

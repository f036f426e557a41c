import { spawnSync } from "node:child_process"
import { copyFileSync, renameSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { afterAll, assert, describe, it } from "vitest"
import { cleanUp, masterKey, Program } from "../support/Program.js"

const cli = fileURLToPath(new URL("../../../cli/bin/coffer.js", import.meta.url))
const bin = fileURLToPath(new URL("../../bin/coffer-server.js", import.meta.url))
const secret = "/api/orgs/acme/projects/webshop/envs/prod/secrets/A"

afterAll(cleanUp)

const started = async () => {
  const program = await Program.start()
  const token = await program.login("ada@example.com")
  await program.call("POST", "/api/orgs", { token, body: { name: "acme" } })
  await program.call("POST", "/api/orgs/acme/projects", { token, body: { name: "webshop" } })
  assert.strictEqual((await program.call("PUT", secret, { token, body: { value: "one" } })).status, 200)
  return { program, token }
}

const run = (program: Program, ...words: ReadonlyArray<string>) =>
  spawnSync(process.execPath, words, {
    cwd: program.folder,
    encoding: "utf8",
    env: { PATH: process.env["PATH"], HOME: program.folder, SERVICE_MASTER_KEY: masterKey, SMTP_HOST: "log" }
  })

describe("a paused server on SQLite", () => {
  it("keeps the lock of its file: no command and no other server takes it, and it goes on as before", async () => {
    const { program, token } = await started()
    program.signal("SIGSTOP")
    const file = program.file()
    copyFileSync(file, program.file(".restored"))
    for (const words of [
      [cli, "master-key", "rotate", "--generate", "--db", file],
      [bin, "restore", "--apply", program.file(".restored")],
      [bin, "database", "copy", "--from", file, "--to", "copy.db"],
      [bin, "session", "ada@example.com"],
      [bin]
    ]) {
      const { status, stderr } = run(program, ...words)
      assert.strictEqual(status, 1, words.join(" "))
      assert.match(stderr, /is in use by another coffer-server or an offline command/, words.join(" "))
    }
    program.signal("SIGCONT")
    assert.strictEqual((await program.call("PUT", secret, { token, body: { value: "two" } })).status, 200)
    assert.deepStrictEqual(await program.stop(), { code: 0, signal: null })
    await program.remove()
  })

  it("writes nothing when somebody has put another file in its place, and ends itself with a sentence", async () => {
    const { program, token } = await started()
    program.signal("SIGSTOP")
    copyFileSync(program.file(), program.file(".other"))
    renameSync(program.file(), program.file(".old"))
    renameSync(program.file(".other"), program.file())
    const sent = [
      program.call("PUT", secret, { token, body: { value: "late" } }),
      program.call("GET", "/health/ready")
    ].map((call) => call.catch(() => null))
    program.signal("SIGCONT")
    for (const answer of await Promise.all(sent))
      if (answer !== null) assert.strictEqual(answer.status, 503, answer.text)
    assert.deepStrictEqual(await program.ended, { code: 1, signal: null })
    assert.match(program.log, /because \S*service\.db was replaced or removed while it ran: see that the right file/)
  })
})

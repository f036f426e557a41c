import { renameSync, symlinkSync, utimesSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "vitest"
import { place, served, start } from "./DevProgram.js"

describe("coffer-server dev", () => {
  it("goes on after a kill with the same folder, and then leaves nothing", async () => {
    const { file, left, tmp } = place()
    const folder = join(tmp, "data")
    const first = await served(tmp, ["--seed", file, "--folder", folder])
    const port = new URL(first.url).port
    assert.strictEqual((await first.call("PUT", "/projects/app/envs/dev/secrets/B", { value: "2" })).status, 200)
    const beside = await start(tmp, ["--folder", folder]).ended
    assert.deepStrictEqual(
      [beside.code, beside.err],
      [2, `coffer-server: the folder ${folder} is in use by another coffer-server dev\n`]
    )
    await first.stop("SIGKILL")
    assert.deepStrictEqual(left(), ["data"])
    const again = await start(tmp, ["--seed", file, "--folder", folder]).ended
    assert.strictEqual(again.code, 2)
    assert.match(again.err, /has data already: leave out --seed/)
    const unable = await start(tmp, ["--folder", folder], { SERVICE_PORT: "none" }).ended
    assert.strictEqual(unable.code, 1)
    assert.deepStrictEqual(left(), ["data"], "a start that fails loses nothing")
    const other = await served(tmp, ["--folder", folder], { SERVICE_PORT: port })
    assert.deepStrictEqual(other.line, first.line)
    assert.deepStrictEqual(await other.values("dev"), { status: 200, A: "1", B: "2" })
    await other.stop("SIGINT")
    assert.deepStrictEqual(left(), [])
  })

  it("removes what a killed server has left, and nothing else", async () => {
    const { left, tmp } = place()
    const [dead, live] = await Promise.all([served(tmp, []), served(tmp, [])])
    await dead.stop("SIGKILL")
    const [deadFolder = ""] = left().filter((name) => name.includes(`-${dead.child.pid}-`))
    const [liveFolder = ""] = left().filter((name) => name.includes(`-${live.child.pid}-`))
    // Its process cannot be found by this name, but it holds its lock.
    const renamed = liveFolder.replace(`-${live.child.pid}-`, `-${dead.child.pid}-`)
    renameSync(join(tmp, liveFolder), join(tmp, renamed))
    // The server ends when it does not find its files any more.
    symlinkSync(join(tmp, renamed), join(tmp, liveFolder))
    const foreign = [`coffer-dev-${dead.child.pid}`, "coffer-dev-x-y", "other"]
    for (const name of foreign) writeFileSync(join(tmp, name), "")
    const next = async () => (await served(tmp, [])).stop("SIGTERM")
    await next()
    assert.includeMembers(left(), [deadFolder], "it is too young to be judged")
    for (const name of left()) utimesSync(join(tmp, name), 0, 0)
    await next()
    assert.sameMembers(left(), [liveFolder, renamed, ...foreign])
    await live.stop("SIGKILL")
  })

  it("refuses what is another server's, and has no effects outside", async () => {
    const { left, tmp } = place()
    writeFileSync(join(tmp, "mine"), "")
    const settings = { SERVICE_DATABASE_URL: "postgres://a:hunter2@b/c", SERVICE_DB_PATH: "service.db" }
    const cases = [
      [
        [],
        settings,
        "dev has a database, a key and an address of its own: unset SERVICE_DATABASE_URL, SERVICE_DB_PATH"
      ],
      [
        [],
        { SERVICE_MASTER_KEY_FILE: "key" },
        "dev has a database, a key and an address of its own: unset SERVICE_MASTER_KEY_FILE"
      ],
      [
        ["--folder", tmp],
        {},
        `--folder ${tmp} holds other files, which would be removed at the end: name an empty folder`
      ],
      [
        ["--sed"],
        {},
        "dev takes --data with a folder; for tests --seed with a file, --json, --attached, and --folder with a folder: see coffer-server --help"
      ]
    ] as const
    const ends = await Promise.all(cases.map(([args, variables]) => start(tmp, args, variables).ended))
    assert.deepStrictEqual(
      ends,
      cases.map(([, , message]) => ({ code: 2, out: "", err: `coffer-server: ${message}\n` }))
    )
    const large = Object.fromEntries(Array.from({ length: 130 }, (_, index) => [`K${index}`, "hunter2".padEnd(65_536)]))
    const { code, err } = await start(tmp, ["--seed", place({ qa: large }).file]).ended
    assert.strictEqual(code, 2)
    assert.match(err, /^coffer-server: \S+seed\.json: qa: the values of an environment have at most 8 MiB together\n$/)
    const outside = {
      SMTP_HOST: "mail.invalid",
      BACKUP_DIR: tmp,
      BACKUP_SCHEDULE_HOURS: "1",
      SERVICE_AUDIT_STREAM: "stdout"
    }
    const server = await served(tmp, [], outside)
    assert.strictEqual(server.place, "dev/app/dev")
    assert.deepStrictEqual(await server.values("dev"), { status: 200 })
    assert.strictEqual((await server.stop("SIGINT")).out, `${JSON.stringify(server.line)}\n`)
    assert.deepStrictEqual(left(), ["mine"])
  })
})

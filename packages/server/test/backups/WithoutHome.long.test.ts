import { spawn } from "node:child_process"
import { chownSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { afterAll, assert, describe, it, onTestFinished } from "vitest"
import { anotherUser, asAnotherUser } from "../support/AnotherUser.js"
import { cleanUp, freshFolder, masterKey } from "../support/Program.js"
import { freshSettings, keysBelow } from "./Endpoint.js"

const bin = fileURLToPath(new URL("../../bin/coffer-server.js", import.meta.url))

afterAll(() => {
  cleanUp()
})

const [program = "", ...args] = asAnotherUser("dac_override") ?? []

describe.runIf(program !== "")("a server of a user without a home directory and a passwd entry", () => {
  it("makes backups", async () => {
    const settings = freshSettings()
    const folder = freshFolder()
    chownSync(folder, anotherUser, anotherUser)
    const env = {
      PATH: process.env["PATH"],
      SERVICE_MASTER_KEY: masterKey,
      SMTP_HOST: "log",
      SERVICE_PORT: "0",
      BACKUP_SCHEDULE_HOURS: "1",
      ...settings
    }
    const child = spawn(program, [...args, process.execPath, bin], {
      cwd: folder,
      env,
      stdio: ["ignore", "ignore", "pipe"]
    })
    let log = ""
    child.stderr.setEncoding("utf8").on("data", (chunk: string) => (log += chunk))
    const ended = new Promise((resolve) => child.once("close", resolve))
    onTestFinished(() => void child.kill("SIGKILL"))
    let objects: ReadonlyArray<string> = []
    while (objects.length === 0 && !/was not made/.test(log) && child.exitCode === null) {
      await new Promise((resolve) => setTimeout(resolve, 50))
      objects = await keysBelow(settings.BACKUP_S3_PREFIX)
    }
    child.kill()
    await ended
    assert.strictEqual(objects.length, 1, log)
  })
})

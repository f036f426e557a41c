import { Effect } from "effect"
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { assert, describe, it } from "vitest"
import { requireSoundAddon } from "../../../src/database/sqlite/Addon.js"
import { addonFile } from "../../../src/database/sqlite/SqliteFile.js"

describe("the compiled SQLite", () => {
  const addon = addonFile() ?? ""

  it("is found where it was loaded from, and used", async () => {
    assert.match(addon, /better_sqlite3\.node$/)
    await Effect.runPromise(requireSoundAddon())
  })

  it("is refused where Node 24.19 and later would abort with it", async () => {
    const folder = mkdtempSync(join(tmpdir(), "coffer-addon-"))
    const file = join(folder, "better_sqlite3.node")
    writeFileSync(file, Buffer.concat([readFileSync(addon), Buffer.from("_ZN4node28RemoveEnvironmentCleanupHookE")]))
    const { message } = await Effect.runPromise(Effect.flip(requireSoundAddon(file)))
    assert.include(message, `${file} was compiled for Node 24.19 or later`)
    rmSync(folder, { recursive: true })
  })
})

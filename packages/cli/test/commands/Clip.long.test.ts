import { chmodSync, mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { assert, beforeAll, describe, it } from "vitest"
import { until } from "../support/Programs.js"
import { workplace } from "../support/Workplace.js"

const place = workplace()

const folder = () => join(place.home.folder, "programs")
const clipboard = () => readFileSync(join(folder(), "clipboard"), "utf8")

/** A clipboard of this test's: two programs that keep it in a file, as those of Wayland keep it with the compositor. */
beforeAll(() => {
  mkdirSync(folder())
  const program = (name: string, script: string) => {
    writeFileSync(join(folder(), name), `#!/bin/sh\n${script}\n`)
    chmodSync(join(folder(), name), 0o755)
  }
  program("wl-copy", `if [ "$1" = --clear ]; then : > ${folder()}/clipboard; else cat > ${folder()}/clipboard; fi`)
  program("wl-paste", `cat ${folder()}/clipboard`)
})

const clip = (key: string, env: Record<string, string> = {}) =>
  place.home.coffer(["get", key, "--clip"], {
    env: { WAYLAND_DISPLAY: "wayland-0", PATH: `${folder()}:${process.env["PATH"] ?? ""}`, ...env }
  })

describe("coffer get --clip", () => {
  it("clears the clipboard after 30 seconds, although the command has ended", { timeout: 90_000 }, async () => {
    await place.ok("set", "TOKEN=hunter2\nline two")
    const started = Date.now()
    const { code, stderr, stdout } = await clip("TOKEN")
    assert.deepStrictEqual([code, stdout], [0, ""], stderr)
    assert.strictEqual(stderr, "coffer: TOKEN is in the clipboard for 30 s, unless something else is copied before\n")
    assert.strictEqual(clipboard(), "hunter2\nline two")
    assert.isBelow(Date.now() - started, 20_000)
    await until(() => (clipboard() === "" ? true : undefined), "an empty clipboard", 60)
    assert.isAtLeast(Date.now() - started, 29_000)
  })

  it("leaves what was copied after it", { timeout: 90_000 }, async () => {
    await place.ok("set", "TOKEN=hunter3")
    assert.strictEqual((await clip("TOKEN")).code, 0)
    writeFileSync(join(folder(), "clipboard"), "something else")
    await new Promise((resolve) => setTimeout(resolve, 35_000))
    assert.strictEqual(clipboard(), "something else")
  })

  it("says what is missing where there is no clipboard", async () => {
    await place.ok("set", "TOKEN=hunter4")
    const none = await clip("TOKEN", { WAYLAND_DISPLAY: "" })
    assert.deepStrictEqual([none.code, none.stdout], [1, ""])
    assert.match(none.stderr, /there is no clipboard here, because this machine has no display/)
    const missing = await clip("TOKEN", { WAYLAND_DISPLAY: "", DISPLAY: ":0", PATH: folder() })
    assert.deepStrictEqual([missing.code, missing.stdout], [1, ""])
    assert.match(missing.stderr, /install xclip or xsel/)
    const several = await place.home.coffer(["get", "TOKEN", "OTHER", "--clip"])
    assert.deepStrictEqual([several.code, /--clip takes one value/.test(several.stderr)], [2, true])
  })
})

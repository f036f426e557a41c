import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { root as repository } from "../support/Documents.js"
import { finish } from "../support/Programs.js"
import { hasRoots } from "./Roots.js"
import { freshFolder } from "./Support.js"
import { SystemRoot } from "./SystemRoot.js"

const reload = "daemon-reload"
const restart = "try-restart coffer.service"
const isEnabled = "is-enabled --quiet coffer.service"
const disable = "--no-reload disable --now coffer.service"

/** Calls of the scripts by dpkg and rpm in the life of the server's package, and the requests to systemd that follow. */
const lives = {
  dpkg: [
    ["postinst", ["configure", ""], [reload]],
    ["prerm", ["upgrade", "0.3.1"], []],
    ["postrm", ["upgrade", "0.3.1"], [reload]],
    ["postinst", ["configure", "0.3.0"], [reload, restart, isEnabled]],
    ["prerm", ["failed-upgrade", "0.3.1"], []],
    ["postinst", ["abort-upgrade", "0.3.1"], []],
    ["prerm", ["deconfigure", "in-favour", "other", "1"], []],
    ["postinst", ["abort-deconfigure", "in-favour", "other", "1"], []],
    ["prerm", ["remove"], [disable]],
    ["postrm", ["remove"], [reload]]
  ],
  rpm: [
    ["postinst", ["1"], [reload]],
    ["postinst", ["2"], [reload, restart, isEnabled]],
    ["prerm", ["1"], []],
    ["postrm", ["1"], [reload]],
    ["prerm", ["0"], [disable]],
    ["postrm", ["0"], [reload]]
  ]
} as const

describe.skipIf(process.getuid?.() !== 0 || !hasRoots)("the scripts of the server's package (need root)", () => {
  const folder = freshFolder()
  let root: SystemRoot

  beforeAll(async () => {
    root = await SystemRoot.withPrograms(folder)
    mkdirSync(root.path("etc/coffer"))
  })
  afterAll(() => rmSync(folder, { recursive: true }))

  const run = async (script: string, args: ReadonlyArray<string>) => {
    const text = readFileSync(`${repository}scripts/release/system/server/${script}`, "utf8")
    writeFileSync(root.path("tmp/script"), text)
    const { code, stderr, stdout } = await finish(root.spawn(["/bin/sh", "/tmp/script", ...args], {}))
    assert.deepStrictEqual([code, stderr], [0, ""], `${script} ${args.join(" ")}`)
    return stdout
  }

  it.each(["dpkg", "rpm"] as const)(
    "ask systemd for what they must, as %s calls them, and keep the data",
    async (name) => {
      for (const [index, [script, args, calls]] of lives[name].entries()) {
        const said = await run(script, args)
        assert.deepStrictEqual(root.systemctl, calls, `${script} ${args.join(" ")}`)
        // systemctl fails here, so the server counts as disabled.
        const hint = "coffer-server does not start by itself: systemctl enable --now coffer\n"
        if (index > 0) assert.strictEqual(said, calls.some((call) => call === isEnabled) ? hint : "")
        else {
          assert.include(said, "Three steps remain")
          writeFileSync(root.path("etc/coffer/master.key"), "5e")
          writeFileSync(root.path("var/lib/coffer/service.db"), "")
        }
      }
      assert.isTrue(existsSync(root.path("etc/coffer/master.key")))
      assert.isTrue(existsSync(root.path("var/lib/coffer/service.db")))
      assert.isAbove(root.ids.uid, 0)
      rmSync(root.path("etc/coffer/master.key"))
    }
  )

  it("remove the data, the settings and the user when dpkg purges", async () => {
    await run("postrm", ["purge"])
    assert.deepStrictEqual(root.systemctl, [reload])
    for (const gone of ["etc/coffer", "var/lib/coffer"]) assert.isFalse(existsSync(root.path(gone)), gone)
    assert.notInclude(root.read("etc/passwd"), "coffer")
  })

  it("ask nothing where systemd does not run", async () => {
    rmSync(root.path("run"), { recursive: true })
    mkdirSync(root.path("etc/coffer"))
    for (const [script, args] of lives.rpm) {
      await run(script, args)
      assert.deepStrictEqual(root.systemctl, [], script)
    }
  })
})

import { spawnSync } from "node:child_process"
import { appendFileSync, chownSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { isSoak } from "../../../domain/test/support/Runs.js"
import { root as repository } from "../support/Documents.js"
import { finish } from "../support/Programs.js"
import { freshFolder, laterVersion, must, version } from "./Support.js"
import { SystemRoot } from "./SystemRoot.js"

export const hasRpm = spawnSync("rpm", ["--version"]).status === 0

/** A later package of the server: other default settings, and the scripts alone. */
const makeLater = async (folder: string) => {
  mkdirSync(folder)
  const system = `${repository}scripts/release/system`
  const script = `
    import { readFileSync, writeFileSync } from "node:fs"
    import { findNfpm, systemPackages } from "${system}/nfpm.mjs"
    const own = (name) => readFileSync("${system}/server/" + name, "utf8")
    const made = await systemPackages({
      name: "coffer-server", description: "later", version: "${laterVersion}", compression: "gzip", time: 1e9,
      folder: process.argv[1], nfpm: await findNfpm(), needs: { deb: [], rpm: [] },
      files: { "/etc/coffer/coffer.env": { content: "SERVICE_SIGNUP=nobody\\n", mode: 0o600, type: "config|noreplace" } },
      scripts: { postinstall: own("postinst"), preremove: own("prerm"), postremove: own("postrm") }
    })
    for (const [name, content] of Object.entries(made)) writeFileSync(process.argv[1] + "/" + name, content)
    console.log(Object.keys(made).find((name) => name.endsWith("rpm")))`
  const name = await must(process.execPath, ["--input-type=module", "-e", script, folder])
  return join(folder, name.trim())
}

/** @param pathOf returns the path of a package by its name */
export const describeRpmPackages = (pathOf: (name: string) => string) =>
  describe.skipIf(!hasRpm)(`the .rpm${hasRpm ? "" : ", not tested without rpm"}`, () => {
    const folder = freshFolder()
    let root: SystemRoot

    beforeAll(async () => {
      mkdirSync(join(folder, "root"))
      root = await SystemRoot.withPrograms(join(folder, "root"))
    })
    afterAll(() => rmSync(folder, { recursive: true }))

    const shop = "--org acme --project webshop --env dev"
    const settings = "etc/coffer/coffer.env"
    /** In this order: the new package's script, then that of the old one. */
    const upgrade = [
      ...["daemon-reload", "try-restart coffer.service", "is-enabled --quiet coffer.service"],
      "daemon-reload"
    ]

    it("install with the scripts, and in a soak run the server by its unit's command line as its user", async () => {
      const said = await root.rpm("-i", pathOf("coffer"), pathOf("coffer-server"))
      assert.match(said, /not started\. [^]*\n1\. .*master key[^]*\n2\. .*coffer\.env[^]*\n3\. .*systemctl enable/)
      assert.deepStrictEqual(root.systemctl, ["daemon-reload"])
      assert.strictEqual(await root.rpm("-V", "coffer", "coffer-server"), "", "all files are as the packages say")
      assert.strictEqual(await must(root.path("usr/bin/coffer"), ["--version"]), `${version}\n`)
      const { gid, uid } = root.ids
      assert.isAbove(uid, 0)
      assert.strictEqual(root.ownerAndMode("etc/coffer"), `0:${gid} 750`)
      assert.strictEqual(root.ownerAndMode(settings), "0:0 600")
      assert.strictEqual(root.ownerAndMode("var/lib/coffer"), `${uid}:${gid} 700`)

      writeFileSync(root.path("etc/coffer/master.key"), `${"5e".repeat(32)}\n`, { mode: 0o640 })
      chownSync(root.path("etc/coffer/master.key"), 0, gid)
      appendFileSync(root.path(settings), "SMTP_HOST=log\nSUPERADMIN_EMAIL_0=ada@example.com\n")
      // The .deb has the same server, which is run in each run of the tests.
      if (!isSoak) return writeFileSync(root.path("var/lib/coffer/service.db"), "")
      await root.serve(async (coffer) => {
        await coffer("org create acme")
        await coffer("project create webshop --org acme")
        await coffer(`secret set API_KEY ${shop}`, "k-8c1f")
      })
    })

    it("keep changed settings and the data in an upgrade and on the way back", async () => {
      const before = root.read(settings)
      await root.rpm("-U", await makeLater(join(folder, "later")))
      assert.strictEqual(await root.rpm("-q", "--queryformat=%{VERSION}", "coffer-server"), laterVersion)
      assert.deepStrictEqual(root.systemctl, upgrade)
      assert.strictEqual(root.read(settings), before)
      assert.strictEqual(root.read(`${settings}.rpmnew`), "SERVICE_SIGNUP=nobody\n")
      await root.rpm("-U", "--oldpackage", pathOf("coffer-server"))
      assert.strictEqual(root.read(settings), before)
      if (isSoak) {
        await root.serve(async (coffer) => {
          assert.strictEqual(await coffer(`secret get API_KEY ${shop}`), "k-8c1f")
        })
      }
      assert.deepStrictEqual(root.systemctl, upgrade)
    })

    it("leave the data, the key, changed settings and the user when they are erased, as the page says", async () => {
      const before = root.read(settings)
      await root.rpm("-e", "coffer", "coffer-server")
      assert.deepStrictEqual(root.systemctl, ["--no-reload disable --now coffer.service", "daemon-reload"])
      for (const gone of [
        "usr/lib/coffer-server",
        "usr/lib/systemd/system/coffer.service",
        "usr/bin/coffer",
        settings
      ]) {
        assert.isFalse(existsSync(root.path(gone)), gone)
      }
      for (const kept of ["etc/coffer/master.key", "var/lib/coffer/service.db"]) {
        assert.isTrue(existsSync(root.path(kept)), kept)
      }
      assert.strictEqual(root.read(`${settings}.rpmsave`), before)
      assert.isAbove(root.ids.uid, 0)

      const removal = "rm -r /etc/coffer /var/lib/coffer\nuserdel coffer\n"
      assert.include(readFileSync(`${repository}docs/install.md`, "utf8"), removal)
      const { code, stderr } = await finish(root.spawn(["/bin/sh", "-euc", removal], {}))
      assert.strictEqual(code, 0, stderr)
      for (const gone of ["etc/coffer", "var/lib/coffer"]) assert.isFalse(existsSync(root.path(gone)), gone)
      assert.notInclude(root.read("etc/passwd"), "coffer")
    })
  })

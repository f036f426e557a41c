import { spawnSync } from "node:child_process"
import {
  appendFileSync,
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  writeFileSync
} from "node:fs"
import { join } from "node:path"
import { gunzipSync } from "node:zlib"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { root as repository } from "../support/Documents.js"
import { hasRoots } from "./Roots.js"
import { describeRpmPackages, hasRpm } from "./RpmPackages.js"
import { freshFolder, laterVersion, must, sumOf, version } from "./Support.js"
import { SystemRoot } from "./SystemRoot.js"

const runs = (program: string) => spawnSync(program, ["--version"]).status === 0

/** Whether there is an nfpm. CI compiles one, where Go is. */
const hasNfpm = () => {
  if (runs(process.env["COFFER_NFPM"] ?? "nfpm")) return true
  if (process.env["COFFER_RUNS"] !== "ci") return false
  const GOBIN = join(repository, ".cache/tools")
  spawnSync("go", ["install", "github.com/goreleaser/nfpm/v2/cmd/nfpm@v2.45.2"], { env: { ...process.env, GOBIN } })
  process.env["COFFER_NFPM"] = join(GOBIN, "nfpm")
  return runs(process.env["COFFER_NFPM"])
}

const needs = {
  root: process.getuid?.() === 0,
  namespaces: hasRoots,
  dpkg: runs("dpkg"),
  nfpm: hasNfpm()
}
const lacking = Object.entries(needs).flatMap(([name, has]) => (has ? [] : [name]))

const scripts = `${repository}scripts/release/system`

/** Makes packages from the files of a release: with the Node of the tests, and with a client that prints its version. */
export const makePackages = async (release: string, out: string) => {
  const program = `${out}.program`
  writeFileSync(program, `#!/bin/sh\necho ${version}\n`)
  const variables = { ...process.env, SOURCE_DATE_EPOCH: "1700000000" }
  await must(process.execPath, [`${scripts}/main.mjs`, release, out, "--program", program], variables)
}

/** The same package with another version, and with other default settings. */
export const laterOf = async (deb: string, folder: string) => {
  await must("dpkg-deb", ["-R", deb, folder])
  const control = join(folder, "DEBIAN/control")
  writeFileSync(control, readFileSync(control, "utf8").replace(/^Version: .*/m, `Version: ${laterVersion}`))
  appendFileSync(join(folder, "etc/coffer/coffer.env"), "SERVICE_SIGNUP=nobody\n")
  await must("dpkg-deb", ["-Znone", "-b", folder, `${folder}.deb`])
  return `${folder}.deb`
}

/** @param files the folder of a release, whose packages `packages` returns the folder of */
export const describeSystemPackages = (files: string, packages: (folder: string) => Promise<string>) =>
  describe.skipIf(lacking.length > 0)(
    `the .deb and .rpm${lacking.map((one) => `, not tested without ${one}`).join("")}`,
    () => {
      const folder = freshFolder()
      let made: string
      let root: SystemRoot

      /** The path of a package. */
      const pathOf = (name: string, kind: "deb" | "rpm") => {
        const found = readdirSync(made).filter(
          (file) => file.endsWith(kind) && new RegExp(`^${name}[_-]\\d`).test(file)
        )
        assert.lengthOf(found, 1, name)
        return join(made, found[0] ?? "")
      }

      beforeAll(async () => {
        made = await packages(folder)
        mkdirSync(join(folder, "root"))
        root = await SystemRoot.make(join(folder, "root"))
      })
      afterAll(() => rmSync(folder, { recursive: true }))

      it("install the client with its manual pages and completions", async () => {
        await root.dpkg("-i", pathOf("coffer", "deb"))
        assert.strictEqual(await must(root.path("usr/bin/coffer"), ["--version"]), `${version}\n`)
        assert.strictEqual(readlinkSync(root.path("usr/bin/coffer-mcp")), "coffer")
        for (const name of readdirSync(join(files, "man")).filter((page) => page !== "coffer-server.1")) {
          const page = gunzipSync(readFileSync(root.path(`usr/share/man/man1/${name}.gz`)))
          assert.strictEqual(page.toString(), readFileSync(join(files, "man", name), "utf8"))
        }
        const shells = {
          "bash/coffer": "bash-completion/completions/coffer",
          "zsh/_coffer": "zsh/vendor-completions/_coffer",
          "fish/coffer.fish": "fish/vendor_completions.d/coffer.fish"
        }
        for (const [from, to] of Object.entries(shells)) {
          assert.strictEqual(root.read(`usr/share/${to}`), readFileSync(join(files, "completions", from), "utf8"))
        }
        assert.includeMembers(readdirSync(root.path("usr/share/doc/coffer")), ["copyright", "THIRD-PARTY-LICENCES.txt"])
      })

      it("install the server with its user and folders, and say what remains to be done", async () => {
        const said = await root.dpkg("-i", pathOf("coffer-server", "deb"))
        assert.match(said, /not started\. [^]*\n1\. .*master key[^]*\n2\. .*coffer\.env[^]*\n3\. .*systemctl enable/)
        const { gid, uid } = root.ids
        assert.isAbove(uid, 0)
        assert.strictEqual(root.ownerAndMode("etc/coffer"), `0:${gid} 750`)
        assert.strictEqual(root.ownerAndMode("etc/coffer/coffer.env"), "0:0 600")
        assert.strictEqual(root.ownerAndMode("var/lib/coffer"), `${uid}:${gid} 700`)
        assert.isFalse(existsSync(root.path("etc/coffer/master.key")))
      })

      it("run the server by the command line of its unit, as its user", async () => {
        const { gid, uid } = root.ids
        writeFileSync(root.path("etc/coffer/master.key"), `${"5e".repeat(32)}\n`, { mode: 0o640 })
        chownSync(root.path("etc/coffer/master.key"), 0, gid)
        appendFileSync(root.path("etc/coffer/coffer.env"), "SMTP_HOST=log\nSUPERADMIN_EMAIL_0=ada@example.com\n")
        await root.serve(async (coffer, { child }) => {
          assert.strictEqual(statSync(`/proc/${child.pid}`).uid, uid)
          await coffer("org create acme")
          await coffer("project create webshop --org acme")
          await coffer("secret set API_KEY --org acme --project webshop --env dev", "k-8c1f")
        })
        assert.strictEqual(root.ownerAndMode("var/lib/coffer/service.db"), `${uid}:${gid} 600`)
      })

      it("keep the database, the key and changed settings in an upgrade", async () => {
        const before = root.read("etc/coffer/coffer.env")
        chmodSync(root.path("etc/coffer"), 0o710)
        const deb = await laterOf(pathOf("coffer-server", "deb"), join(folder, "later"))
        assert.notInclude(await root.dpkg("-i", deb), "remain")
        assert.include(root.read("var/lib/dpkg/status"), `Version: ${laterVersion}\n`)
        assert.strictEqual(root.read("etc/coffer/coffer.env"), before)
        assert.strictEqual(root.ownerAndMode("etc/coffer"), `0:${root.ids.gid} 710`)
        await root.serve(async (coffer) => {
          const value = await coffer("secret get API_KEY --org acme --project webshop --env dev")
          assert.strictEqual(value, "k-8c1f")
        })
      })

      it("rotate the master key by the client beside the server", async () => {
        await root.run(
          "/usr/lib/coffer-server/bin/coffer master-key rotate --db /var/lib/coffer/service.db --generate",
          {
            HOME: "/tmp",
            SERVICE_MASTER_KEY_FILE: "/etc/coffer/master.key"
          }
        )
      })

      it("leave data, key and settings when they are removed, and nothing when they are purged", async () => {
        await root.dpkg("-r", "coffer-server", "coffer")
        for (const gone of ["usr/lib/coffer-server", "usr/lib/systemd", "usr/share/man", "usr/bin"]) {
          assert.isFalse(existsSync(root.path(gone)), gone)
        }
        for (const kept of ["etc/coffer/master.key", "etc/coffer/coffer.env", "var/lib/coffer/service.db"]) {
          assert.isTrue(existsSync(root.path(kept)), kept)
        }
        await root.dpkg("-P", "coffer-server", "coffer")
        for (const gone of ["etc/coffer", "var/lib/coffer"]) assert.isFalse(existsSync(root.path(gone)), gone)
        assert.strictEqual(root.read("etc/passwd"), "root:x:0:0:root:/root:/bin/sh\n")
      })

      it.skipIf(!hasRpm)("have the same files and scripts for RPM systems (needs rpm)", async () => {
        for (const name of ["coffer", "coffer-server"]) {
          const rpm = (query: string) => must("rpm", ["-qp", query, pathOf(name, "rpm")])
          const inDeb = await must("dpkg-deb", ["-c", pathOf(name, "deb")])
          const listed = inDeb.split("\n").flatMap((line) => / \.(\/\S*[^/\s])(?: -> .*)?$/.exec(line)?.[1] ?? [])
          const inRpm = (await rpm("--queryformat=[%{FILEMODES:perms} %{FILENAMES}\n]"))
            .split("\n")
            .flatMap((line) => /^[^d]\S* (.*)$/.exec(line)?.[1] ?? [])
          assert.sameMembers(
            inRpm.map((path) => path.replace("site-functions", "vendor-completions")),
            listed
          )
          if (name === "coffer") continue
          assert.strictEqual(await rpm("--configfiles"), "/etc/coffer/coffer.env\n")
          const said = await rpm("--scripts")
          for (const script of ["postinst", "prerm", "postrm"]) {
            assert.include(said, readFileSync(`${scripts}/server/${script}`, "utf8").trimEnd())
          }
        }
      })

      describeRpmPackages((name) => pathOf(name, "rpm"))

      it("have the same bytes whoever makes them", async () => {
        const make = async (name: string, umask: string, zone: string) => {
          const work = join(folder, name)
          const script = `
          import { mkdirSync, writeFileSync } from "node:fs"
          import { clientPackages } from "${scripts}/client.mjs"
          import { findNfpm } from "${scripts}/nfpm.mjs"
          process.umask(${umask})
          mkdirSync(process.argv[1])
          const made = await clientPackages({
            changelog: "", folder: process.argv[1], made: { licences: { LICENSE: "" }, program: { content: "x", executable: true } },
            nfpm: await findNfpm(), pages: { "a.1": "" }, shells: { bash: "", fish: "", zsh: "" }, time: 1e9, version: "1.0.0"
          })
          for (const [name, content] of Object.entries(made)) writeFileSync(process.argv[1] + "/" + name, content)`
          await must(process.execPath, ["--input-type=module", "-e", script, work], { ...process.env, TZ: zone })
          return readdirSync(work).flatMap((file) => (/deb$|rpm$/.test(file) ? [sumOf(join(work, file))] : []))
        }
        assert.deepStrictEqual(await make("a", "0o22", "UTC"), await make("b c", "0o77", "Pacific/Auckland"))
      })
    }
  )

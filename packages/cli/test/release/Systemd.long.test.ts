import { spawn, spawnSync } from "node:child_process"
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "vitest"
import { isSoak } from "../../../domain/test/support/Runs.js"
import { root as repository } from "../support/Documents.js"
import { finish } from "../support/Programs.js"
import { hasRoots } from "./Roots.js"
import { freshFolder, release } from "./Support.js"
import { laterOf, makePackages } from "./SystemPackages.js"

const programs = `${repository}packages/cli/test/release/systemd`

const needs = {
  root: process.getuid?.() === 0 && hasRoots,
  systemd: existsSync("/lib/systemd/systemd"),
  overlayfs: existsSync("/proc/filesystems") && readFileSync("/proc/filesystems", "utf8").includes("\toverlay\n"),
  dpkg: spawnSync("dpkg", ["--version"]).status === 0,
  nfpm: spawnSync(process.env["COFFER_NFPM"] ?? "nfpm", ["--version"]).status === 0
}
const lacking = Object.entries(needs).flatMap(([name, has]) => (has ? [] : [name]))

describe.skipIf(!isSoak || lacking.length > 0)(
  `the .deb on a system that systemd has booted${lacking.map((one) => `, not tested without ${one}`).join("")}`,
  () => {
    it("starts, restarts, is upgraded, removed and purged as the page says", { timeout: 900_000 }, async () => {
      const folder = freshFolder()
      const walk = join(folder, "boot/upper/walk")
      mkdirSync(walk, { recursive: true })
      await release(["--packages", "--out", join(folder, "release")])
      await makePackages(join(folder, "release"), join(folder, "packages"))
      const first = readdirSync(join(folder, "packages")).find((name) => /^coffer-server_.*deb$/.test(name)) ?? ""
      cpSync(join(folder, "packages", first), join(walk, "first.deb"))
      cpSync(await laterOf(join(walk, "first.deb"), join(folder, "later")), join(walk, "later.deb"))
      cpSync(join(programs, "walk.sh"), join(walk, "walk.sh"))
      const { stderr } = await finish(spawn("sh", [join(programs, "boot.sh"), join(folder, "boot"), "/walk/walk.sh"]))
      const said = readFileSync(join(walk, "out"), "utf8")
      assert.deepStrictEqual(
        said.trimEnd().split("\n"),
        [
          "installed: inactive disabled",
          "unset: failed 78 0",
          "started: active enabled",
          "exposure: 1.1",
          "process: CapEff: 0000000000000000 NoNewPrivs: 1 Seccomp: 2",
          "writable: /var/lib/coffer",
          "lost: no",
          "killed: active k-8c1f-value",
          "upgraded: active again k-8c1f-value",
          "stopped: success 0",
          "stays: inactive",
          "removed: not-found 0",
          "hint: coffer-server does not start by itself: systemctl enable --now coffer",
          "back: k-8c1f-value",
          "purged: not-found",
          "values: 0",
          "complaints:"
        ],
        stderr
      )
      rmSync(folder, { recursive: true })
    })
  }
)

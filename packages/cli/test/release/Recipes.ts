import { spawnSync } from "node:child_process"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "vitest"
import { root } from "../support/Documents.js"
import { must, version } from "./Support.js"

const runs = (program: string) => spawnSync(program, ["--version"]).status === 0

/** @param made the folder of a release */
export const describeRecipes = (made: string) =>
  describe("the recipes of the release", () => {
    const read = (path: string) => readFileSync(join(made, path), "utf8")
    const sumOf = (file: string) =>
      new RegExp(`^([0-9a-f]{64}) {2}${file.replaceAll(".", "\\.")}$`, "m").exec(read("SHA256SUMS"))?.[1]

    it("pin the tarballs by the sums of SHA256SUMS, and SQLite by the lockfile", () => {
      const [, file, sum] = /url ".*\/(.*)"\n *sha256 "(.*)"/.exec(read("Formula/coffer.rb")) ?? []
      assert.deepStrictEqual([file, sum], [`coffer-${version}.tgz`, sumOf(`coffer-${version}.tgz`)])

      const flake = read("flake.nix")
      const pinned = [...flake.matchAll(/url = "[^"]*\/(.*)";\n *hash = "(sha\d+)-(.*)";/g)]
      const { packages } = JSON.parse(readFileSync(`${root}package-lock.json`, "utf8"))
      const locked = ["better-sqlite3", "bindings", "file-uri-to-path"].map((name) => packages[`node_modules/${name}`])
      assert.deepStrictEqual(
        pinned.map(([, name, kind, hash = ""]) =>
          kind === "sha256" ? [name, Buffer.from(hash, "base64").toString("hex")] : `${kind}-${hash}`
        ),
        [
          ...locked.map(({ integrity }) => integrity),
          ...["coffer", "coffer-server"].map((name) => [`${name}-${version}.tgz`, sumOf(`${name}-${version}.tgz`)])
        ]
      )
    })

    it.skipIf(!runs("ruby"))("have a formula that Ruby parses (needs ruby)", async () => {
      assert.strictEqual(await must("ruby", ["-c", join(made, "Formula/coffer.rb")]), "Syntax OK\n")
    })

    it.skipIf(!runs("nix-instantiate"))("have a flake that Nix parses (needs nix-instantiate)", async () => {
      await must("nix-instantiate", ["--parse", join(made, "flake.nix")])
    })
  })

import { spawnSync } from "node:child_process"
import { readdirSync, readFileSync, rmSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "vitest"
import { isSoak } from "../../../domain/test/support/Runs.js"
import { root } from "../support/Documents.js"
import { freshFolder, must, version } from "./Support.js"

const runs = (program: string) => spawnSync(program, ["--version"]).status === 0

const stand = (name: string) => `${root}packages/cli/test/release/recipes/${name}`

/** Does something with the unpacked tarball of a package. */
const inTarball = async (made: string, name: string, use: (folder: string, tarball: string) => Promise<void>) => {
  const folder = freshFolder()
  const tarball = join(made, `${name}-${version}.tgz`)
  await must("tar", ["-xzf", tarball, "-C", folder])
  await use(folder, tarball)
  rmSync(folder, { recursive: true })
}

/** The functions of nixpkgs' hooks that the flake uses. */
const functions = `
  runHook() { :; }
  makeWrapper() { mkdir -p "$out/bin"; printf '#!/bin/sh\\nexec %s %s "$@"\\n' "$1" "$4" > "$2"; chmod +x "$2"; }
  installManPage() { mkdir -p "$out/man"; cp "$@" "$out/man"; }
  installShellCompletion() { cp "$4" "$6" "$8" "$out"; }
`

/** Asserts that folders have all manual pages and completions of the client. */
const assertComplete = (made: string, folders: Readonly<Record<string, string>>) => {
  const { pages = "", ...shells } = folders
  const client = readdirSync(join(made, "man")).filter((name) => name !== "coffer-server.1")
  assert.sameMembers(readdirSync(pages), client)
  for (const [shell, folder] of Object.entries(shells)) {
    for (const name of readdirSync(join(made, "completions", shell))) {
      const text = readFileSync(join(made, "completions", shell, name), "utf8")
      assert.strictEqual(readFileSync(join(folder, name), "utf8"), text)
    }
  }
}

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
      assert.strictEqual(await must("ruby", ["-wc", join(made, "Formula/coffer.rb")]), "Syntax OK\n")
    })

    it.skipIf(!isSoak || !runs("ruby"))("have a formula that installs the client (needs ruby)", async () => {
      const formula = join(made, "Formula/coffer.rb")
      await inTarball(made, "coffer", async (folder, tarball) => {
        const prefix = join(folder, "prefix")
        const variables = { ...process.env, HOME: folder, PREFIX: prefix, TARBALL: tarball, VERSION: version }
        await must(
          "sh",
          ["-euc", `cd "$0"; ruby "$1" "$2"`, join(folder, "package"), stand("homebrew.rb"), formula],
          variables
        )
        assert.strictEqual(await must(join(prefix, "bin/coffer-mcp"), ["--version"]), `${version}\n`)
        assertComplete(made, {
          pages: join(prefix, "share/man/man1"),
          bash: join(prefix, "etc/bash_completion.d"),
          fish: join(prefix, "share/fish/vendor_completions.d"),
          zsh: join(prefix, "share/zsh/site-functions")
        })
      })
    })

    it.skipIf(!runs("nix-instantiate"))(
      "have a flake that Nix evaluates, whose client runs (needs nix-instantiate)",
      async () => {
        const expression = `import ${stand("nixpkgs.nix")} ${join(made, "flake.nix")}`
        const found = JSON.parse(await must("nix-instantiate", ["--eval", "--strict", "--json", "--expr", expression]))
        const { "x86_64-linux": linux, ...others } = found
        for (const other of Object.values(others)) assert.deepStrictEqual(other, linux)
        assert.lengthOf(Object.keys(others), 3)
        assert.deepStrictEqual(linux.default, linux.coffer)
        assert.strictEqual(linux["coffer-server"].src, `/downloaded/coffer-server-${version}.tgz`)
        for (const phase of ["buildPhase", "installPhase"]) {
          await must("bash", ["-n", "-c", linux["coffer-server"][phase]])
        }
        await inTarball(made, "coffer", async (folder) => {
          const out = join(folder, "out")
          const phase = linux.coffer.installPhase.replaceAll("/nodejs_24/bin/node", process.execPath)
          await must("bash", ["-euc", `cd "$0"; ${functions}${phase}`, join(folder, "package")], {
            ...process.env,
            out
          })
          for (const name of ["coffer", "coffer-mcp"]) {
            assert.strictEqual(await must(join(out, "bin", name), ["--version"]), `${version}\n`)
          }
          assertComplete(made, { pages: join(out, "man"), bash: out, fish: out, zsh: out })
        })
      }
    )
  })

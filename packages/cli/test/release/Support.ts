import { spawn } from "node:child_process"
import { createHash } from "node:crypto"
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, statSync, symlinkSync } from "node:fs"
import { tmpdir } from "node:os"
import { join, relative } from "node:path"
import { assert } from "vitest"
import { root } from "../support/Documents.js"
import { finish } from "../support/Programs.js"

export const { version }: { readonly version: string } = JSON.parse(readFileSync(`${root}/package.json`, "utf8"))

export const laterVersion = version.replace(/\d+$/, (patch) => String(Number(patch) + 1))

export const freshFolder = () => mkdtempSync(join(realpathSync(tmpdir()), "coffer-release-"))

/** Runs a program that must succeed; answers its output. */
export const must = async (file: string, args: ReadonlyArray<string>, env: NodeJS.ProcessEnv = process.env) => {
  const { code, stderr, stdout } = await finish(spawn(file, args, { env, stdio: "pipe" }))
  assert.strictEqual(code, 0, `${file} ${args.join(" ")}: ${stdout}${stderr}`)
  return stdout
}

/** Runs the script behind `npm run release`. */
export const release = (options: ReadonlyArray<string>, variables: Readonly<Record<string, string>> = {}) =>
  must(process.execPath, [`${root}scripts/release/main.mjs`, ...options], {
    ...process.env,
    ...variables,
    SOURCE_DATE_EPOCH: "1700000000"
  })

/** Every file below a folder. */
export const filesBelow = (folder: string): ReadonlyArray<string> =>
  readdirSync(folder, { recursive: true, encoding: "utf8" })
    .map((path) => join(folder, path))
    .filter((path) => statSync(path).isFile())
    .map((path) => relative(folder, path))
    .sort()

export const sumOf = (path: string) => createHash("sha256").update(readFileSync(path)).digest("hex")

/** A folder for PATH that holds these programs of this machine and no other, so no compiler. */
export const onlyPrograms = async (folder: string, names: ReadonlyArray<string>) => {
  mkdirSync(folder)
  for (const name of names) {
    const found = await must("/bin/sh", ["-c", `command -v ${name}`])
    symlinkSync(name === "node" ? process.execPath : realpathSync(found.trim()), join(folder, name))
  }
  return folder
}

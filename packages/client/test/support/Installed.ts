import { execFileSync } from "node:child_process"
import { mkdirSync, symlinkSync } from "node:fs"
import { dirname, join } from "node:path"

const root = join(import.meta.dirname, "../../../..")

/**
 * Puts packages into a folder of modules as npm does, without a registry.
 *
 * @param tarballs the packages by name
 * @param links packages of this repository, by name, that the others need
 */
export const unpack = (
  modules: string,
  tarballs: Readonly<Record<string, string>>,
  links: Readonly<Record<string, string>>
) => {
  for (const [name, tarball] of Object.entries(tarballs)) {
    mkdirSync(join(modules, name), { recursive: true })
    execFileSync("tar", ["-xzf", tarball, "-C", join(modules, name), "--strip-components", "1"])
  }
  for (const [name, path] of Object.entries(links)) {
    mkdirSync(dirname(join(modules, name)), { recursive: true })
    symlinkSync(join(root, path), join(modules, name))
  }
}

/** Packages as they are installed for the whole repository. */
export const installed = (...names: ReadonlyArray<string>) =>
  Object.fromEntries(names.map((name) => [name, `node_modules/${name}`]))

/** The compiler of SQLite: Zig from PyPI, and the headers of the Nodes from the npm registry, both pinned by their hashes. */
import { execFile } from "node:child_process"
import { chmod, copyFile, mkdir, readdir } from "node:fs/promises"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"

const run = promisify(execFile)
const own = (name) => fileURLToPath(new URL(name, import.meta.url))

const installZig = async (folder) => {
  const wheels = join(folder, "wheels")
  const download = ["-m", "pip", "download", "--quiet", "--no-deps", "--require-hashes", "--dest", wheels]
  await run("python3", [...download, "--requirement", own("requirements.txt")])
  const [wheel] = await readdir(wheels)
  await run("python3", ["-m", "zipfile", "-e", join(wheels, wheel), folder])
  const zig = join(folder, "ziglang/zig")
  await chmod(zig, 0o755)
  return zig
}

const installHeaders = async (folder) => {
  for (const file of ["package.json", "package-lock.json"]) await copyFile(own(file), join(folder, file))
  // The headers are the same for every platform.
  const options = ["--ignore-scripts", "--no-audit", "--os", "linux", "--cpu", "x64"]
  await run("npm", ["ci", ...options], { cwd: folder })
  return join(folder, "node_modules")
}

/**
 * Installs both in a folder. Returns undefined where they cannot be had.
 *
 * @returns the program of the compiler, the folder of the Nodes, and one for the compiler's own libraries: it compiles those of C++
 *   for each platform, which takes longer than SQLite
 */
export const installTools = async (folder) => {
  await mkdir(folder, { recursive: true })
  try {
    const headers = await installHeaders(folder)
    const zig = await installZig(folder)
    await run(zig, ["version"])
    return { zig, headers, cache: join(folder, "cache") }
  } catch {
    return undefined
  }
}

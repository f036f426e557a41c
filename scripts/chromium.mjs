/**
 * The browser of the tests and of the pictures: that of COFFER_TEST_CHROMIUM, or the one that the development dependency
 * brings for Linux on x64, or the first in the path.
 */
import {
  accessSync,
  chmodSync,
  constants,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  writeFileSync
} from "node:fs"
import { createRequire } from "node:module"
import { delimiter, dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { brotliDecompressSync } from "node:zlib"

const names = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome", "microsoft-edge"]

const isProgram = (path) => {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}

const inPath = () =>
  (process.env.PATH ?? "")
    .split(delimiter)
    .flatMap((folder) => names.map((name) => join(folder, name)))
    .find(isProgram)

/** Unpacks the dependency's browser once, below node_modules. */
const packed = () => {
  if (process.platform !== "linux" || process.arch !== "x64") return undefined
  // The package exports its code alone, not package.json.
  const [folder = ""] = createRequire(new URL("../packages/", import.meta.url))
    .resolve("@sparticuz/chromium")
    .split(/(?=[\\/]build[\\/])/)
  const archive = join(folder, "bin/chromium.br")
  if (!existsSync(archive)) return undefined
  const { version } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"))
  const target = fileURLToPath(new URL(`../node_modules/.cache/chromium-${version}`, import.meta.url))
  if (isProgram(target)) return target
  mkdirSync(dirname(target), { recursive: true })
  const next = `${target}.${process.pid}`
  writeFileSync(next, brotliDecompressSync(readFileSync(archive)))
  chmodSync(next, 0o755)
  renameSync(next, target)
  return target
}

/** The path of a browser; undefined if there is none. */
export const chromiumPath = () => process.env.COFFER_TEST_CHROMIUM ?? packed() ?? inPath()

/** For containers: as root there is no sandbox, and little shared memory. */
export const chromiumFlags = ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run"]

export const noChromium = "there is no Chromium for this machine; COFFER_TEST_CHROMIUM can name one"

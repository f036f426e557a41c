import { existsSync, readdirSync, statSync } from "node:fs"
import { fileURLToPath } from "node:url"

const web = fileURLToPath(new URL("../../../server/dist/web", import.meta.url))

const assets = "/-/assets"

/** The paths of all scripts of the console, as pages request them. */
export const scripts = readdirSync(web + assets)
  .filter((name) => name.endsWith(".js"))
  .map((name) => `${assets}/${name}`)

/** How large scripts are as they are sent, in KiB. The build compresses no small ones. */
export const kibOf = (paths: ReadonlyArray<string>): number =>
  paths.reduce((sum, path) => {
    const compressed = `${web}${path}.gz`
    return sum + statSync(existsSync(compressed) ? compressed : web + path).size
  }, 0) / 1024

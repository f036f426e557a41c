/** The licences of what is bundled: they require that their texts go along with copies. */
import { readdir, readFile } from "node:fs/promises"
import { fileURLToPath } from "node:url"
import { root } from "../bundling.mjs"

/** The folder of the package that a bundled file belongs to. */
const packageOf = (input) => /^(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(input)?.[1]

const textOf = async (folder) => {
  const url = new URL(`${folder}/`, root)
  const manifest = JSON.parse(await readFile(new URL("package.json", url), "utf8"))
  const names = (await readdir(url)).filter((name) => /^(licen[cs]e|copying|notice)/i.test(name)).sort()
  const texts = await Promise.all(names.map((name) => readFile(new URL(name, url), "utf8")))
  const licence = manifest.license ?? manifest.licenses?.map(({ type }) => type).join(" OR ")
  if (licence === undefined && texts.length === 0) throw new Error(`${folder} names no licence`)
  const head = `${manifest.name} ${manifest.version} (${licence})`
  return { head, text: [head, ...texts.map((text) => text.trim())].join("\n\n") }
}

/** Returns one text for all packages among the inputs of bundles, in alphabetical order. */
export const thirdParty = async (inputs) => {
  const folders = [...new Set(inputs.map(packageOf).filter((folder) => folder !== undefined))]
  const texts = await Promise.all(folders.map(textOf))
  const unique = [...new Map(texts.map((one) => [one.head, one.text]))].sort(([a], [b]) => (a < b ? -1 : 1))
  const line = `\n\n${"-".repeat(80)}\n\n`
  return ["Coffer contains the following packages, under their own licences.", ...unique.map(([, text]) => text)]
    .join(line)
    .concat("\n")
}

export const ownLicence = () => readFile(fileURLToPath(new URL("LICENSE", root)))

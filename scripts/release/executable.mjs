/**
 * The single executable of `coffer` and `coffer-mcp`: a Node 24 with the programs inside, by Node's single-executable
 * application. It needs no Node and no file beside it.
 */
import { execFile } from "node:child_process"
import { copyFile, mkdir, readFile, writeFile } from "node:fs/promises"
import { createRequire } from "node:module"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { build } from "esbuild"
import { bundleScript, optional, root } from "../bundling.mjs"
import { clientRuns, warm } from "../code/warm.mjs"
import { programSettings } from "./client.mjs"
import { scripts } from "./executable/scripts.mjs"
import { ownLicence, thirdParty } from "./licences.mjs"

const release = new URL("scripts/release/", root)
const source = (path) => fileURLToPath(new URL(`packages/${path}`, root))

/** Where Node looks for the programs in its executable. */
const fuse = "NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2"

/**
 * Installs the pinned Node for this platform from the registry. Returns undefined where that cannot be had.
 *
 * @returns the folder of its package
 */
export const installNode = async (folder) => {
  const name = `node-${process.platform}-${process.arch}`
  await mkdir(folder, { recursive: true })
  for (const file of ["package.json", "package-lock.json"]) {
    await copyFile(new URL(`node/${file}`, release), join(folder, file))
  }
  try {
    await promisify(execFile)("npm", ["ci", "--ignore-scripts", "--no-audit"], { cwd: folder })
    const node = join(folder, "node_modules", name)
    await promisify(execFile)(join(node, "bin/node"), ["--version"])
    return node
  } catch {
    return undefined
  }
}

/** The names of all scripts. */
const assets = Object.entries(scripts).flatMap(([program, names]) => names.map((name) => `${program}/${name}`))

/** Bundles every script. Returns the paths of what they contain. */
const bundleScripts = async (folder, version) => {
  const own = await programSettings(version)
  const made = await Promise.all(
    Object.entries(scripts).flatMap(([program, names]) =>
      names.map((name) => {
        const external = [...optional, ...names.filter((other) => other !== "main").map((other) => `./${other}.js`)]
        const file = join(folder, program, `${name}.cjs`)
        return bundleScript(source(`${program}/src/${name}.ts`), file, { ...own, external })
      })
    )
  )
  return made.flatMap(({ inputs }) => Object.keys(inputs))
}

/** Fails if V8 rejects the code cache of a script. */
const isTaken = `
  for (const file of process.argv.slice(1)) {
    const read = (end) => require("node:fs").readFileSync(file + end)
    const script = new (require("node:vm").Script)(read(".cjs").toString(), { cachedData: read(".cache") })
    if (script.cachedDataRejected) throw new Error("V8 rejects the code cache of " + file)
  }
`

/** Fills the code caches of the scripts. */
const fillCaches = async (node, folder) => {
  // Makes the same cache each time, which any run of the same Node takes.
  const options = ["--predictable"]
  const program = fileURLToPath(new URL("executable/warm.mjs", release))
  for (const run of clientRuns) {
    const args = [program, ...run]
    await warm({ node: join(node, "bin/node"), options, folder, args, isToolServer: run[0] === "mcp" })
  }
  await promisify(execFile)(join(node, "bin/node"), ["-e", isTaken, ...assets.map((name) => join(folder, name))])
}

/**
 * Returns the executable and the licences of what it contains.
 *
 * @param node the folder of the package that `installNode` returns
 */
export const executable = async ({ folder, node, version }) => {
  const inputs = await bundleScripts(folder, version)
  await fillCaches(node, folder)
  await build({
    absWorkingDir: fileURLToPath(root),
    entryPoints: [fileURLToPath(new URL("executable/main.mjs", release))],
    outfile: join(folder, "start.cjs"),
    bundle: true,
    format: "cjs",
    platform: "node",
    target: "node24",
    minify: true
  })
  const config = {
    main: "start.cjs",
    output: "blob",
    disableExperimentalSEAWarning: true,
    // NODE_OPTIONS is meant for the programs that it runs, and could name files that are not here.
    execArgvExtension: "none",
    assets: Object.fromEntries(assets.flatMap((name) => [`${name}.cjs`, `${name}.cache`]).map((path) => [path, path]))
  }
  await writeFile(join(folder, "config.json"), JSON.stringify(config))
  await promisify(execFile)(join(node, "bin/node"), ["--experimental-sea-config", "config.json"], { cwd: folder })
  const file = join(folder, "coffer")
  await copyFile(join(node, "bin/node"), file)
  const postject = createRequire(join(node, "package.json")).resolve("postject/dist/cli.js")
  await promisify(execFile)(process.execPath, [
    postject,
    file,
    "NODE_SEA_BLOB",
    join(folder, "blob"),
    "--sentinel-fuse",
    fuse
  ])
  return {
    program: { content: await readFile(file), executable: true },
    licences: {
      LICENSE: await ownLicence(),
      "THIRD-PARTY-LICENCES.txt": await thirdParty(inputs),
      "NODE-LICENCE.txt": await readFile(join(node, "LICENSE"))
    }
  }
}

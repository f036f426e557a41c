/** The promise client in its package: each entry as one file for `import` and one for `require`, with types that need no package. */
import { readFile } from "node:fs/promises"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { build } from "esbuild"
import { root, settings } from "../bundling.mjs"

/** The entries, by the path of their export. */
export const entries = { "./promise": "promise", "./promise/testing": "promise/testing" }

/** Conditions of bundlers and runtimes that have no files, processes and sockets of Node. */
const elsewhere = ["workerd", "edge-light", "fastly", "react-native", "browser", "worker"]

const plainErrorsPath = fileURLToPath(new URL("packages/client/dist/promise/PlainErrors.js", root))

/** Bundles the errors of the contract without its schemas. */
export const plainErrors = {
  name: "plain-errors",
  setup({ onResolve }) {
    onResolve({ filter: /^@coffer\/domain\/errors\/Errors$/ }, () => ({ path: plainErrorsPath }))
  }
}

const sentence =
  "@coffer/client reads files and opens connections of its own: it runs on Node, Bun and Deno. In a browser or a Worker, let your server pass on what the page may know."

export const elsewherePath = "./dist/elsewhere.cjs"

/** Has the names of the exports, so that no bundler complains of these first. A script, because both kinds of modules load it. */
export const elsewhereModule = (names) =>
  [
    `throw new Error(${JSON.stringify(sentence)})`,
    ...[...new Set(names)].sort().map((name) => `exports.${name} = undefined`)
  ].join("\n") + "\n"

/** Puts the conditions of places without Node before the others. */
export const unlessElsewhere = (conditions) => ({
  ...Object.fromEntries(elsewhere.map((name) => [name, elsewherePath])),
  ...conditions
})

/** A script has no `import.meta`. */
const asScript = {
  format: "cjs",
  banner: { js: 'const __url=require("node:url").pathToFileURL(__filename).href;' },
  define: { "import.meta.url": "__url" }
}

const bundle = async (folder, version, entry, own) => {
  const options = settings(version)
  const { metafile, outputFiles } = await build({
    ...options,
    ...own,
    define: { ...options.define, ...own.define },
    plugins: [plainErrors, ...options.plugins],
    entryPoints: [join(folder, "dist", `${entry}.js`)],
    outfile: join(folder, "dist", "out.js"),
    // Node prints the line of an error that ends the program.
    lineLimit: 500,
    write: false
  })
  const [output] = Object.values(metafile.outputs)
  return { text: outputFiles[0].text, inputs: Object.keys(metafile.inputs), exports: output.exports }
}

const importsOf = (text) => [...text.matchAll(/\bfrom "([^"]+)"/g)].map(([, name]) => name)

/** The types of an entry and those that they name, by path. Each is there for modules and for scripts. */
export const plainTypes = async (folder, entry) => {
  const types = {}
  const add = async (path) => {
    if (`${path}.d.ts` in types) return
    const text = await readFile(join(folder, "dist", `${path}.d.ts`), "utf8")
    const plain = text.replace(/^\/\/# sourceMappingURL=.*\n?/m, "")
    types[`${path}.d.ts`] = plain
    types[`${path}.d.cts`] = plain.replaceAll(/(\bfrom "\.[^"]*)\.js"/g, '$1.cjs"')
    for (const name of importsOf(plain)) {
      if (!name.startsWith(".")) throw new Error(`${path}.d.ts needs the types of ${name}`)
      await add(join(path, "..", name.replace(/\.js$/, "")))
    }
  }
  await add(entry)
  return types
}

/** For tools that do not know `exports`: the resolution `node10` of TypeScript, and older bundlers and test runners. */
const folderOf = (entry) => {
  const up = "../".repeat(entry.split("/").length)
  const described = { type: "commonjs", main: `${up}dist/${entry}.cjs`, types: `${up}dist/${entry}.d.cts` }
  return `${JSON.stringify(described, null, 2)}\n`
}

const made = async (folder, version, [path, entry]) => {
  const [module, script, types] = await Promise.all([
    bundle(folder, version, entry, { format: "esm", banner: {} }),
    bundle(folder, version, entry, asScript),
    plainTypes(folder, entry)
  ])
  const conditions = {
    import: { types: `./dist/${entry}.d.ts`, default: `./dist/${entry}.js` },
    require: { types: `./dist/${entry}.d.cts`, default: `./dist/${entry}.cjs` }
  }
  return {
    exported: [path, unlessElsewhere(conditions)],
    inputs: module.inputs,
    names: module.exports,
    files: {
      ...Object.fromEntries(Object.entries(types).map(([name, text]) => [`dist/${name}`, text])),
      [`dist/${entry}.js`]: module.text,
      [`dist/${entry}.cjs`]: script.text,
      [`${entry}/package.json`]: folderOf(entry)
    }
  }
}

/** Returns the files of the promise client, its exports with their names, and the modules that are bundled. */
export const promiseClient = async (folder, version) => {
  const all = await Promise.all(Object.entries(entries).map((entry) => made(folder, version, entry)))
  return {
    files: Object.assign({}, ...all.map(({ files }) => files)),
    exported: Object.fromEntries(all.map(({ exported }) => exported)),
    inputs: all.flatMap(({ inputs }) => inputs),
    names: all.flatMap(({ names }) => names)
  }
}

/** The npm packages for applications: the client and the contract. An application bundles what it uses of their modules. */
import { readFile } from "node:fs/promises"
import { join, relative } from "node:path"
import { fileURLToPath } from "node:url"
import { build, transform } from "esbuild"
import { root, settings } from "../bundling.mjs"
import { ownLicence, thirdParty } from "./licences.mjs"
import { elsewhereModule, elsewherePath, plainErrors, plainTypes, promiseClient, unlessElsewhere } from "./promise.mjs"
import { filesOf } from "./staging.mjs"

const importsOf = (text) => [...text.matchAll(/\b(?:from|import)\s*\(?\s*"([\w@./:-]+)"/g)].map(([, name]) => name)

const packageOf = (name) => name.split("/", name.startsWith("@") ? 2 : 1).join("/")

const withoutComments = (text) => text.replace(/^ *\/\*\*[^]*?\*\/\n/gm, "")

/** A module without the exports that no other module names: those for the programs of the workspace. */
const withoutUnused = (code, others) =>
  code.replace(/^export (const|class|function) (\w+)/gm, (whole, kind, name) =>
    others.some((text) => new RegExp(`\\b${name}\\b`).test(text)) ? whole : `${kind} ${name}`
  )

/** A module without its documentation, which its types have. Names and lines stay, for stack traces. */
const shortened = async (code) => {
  const options = { format: "esm", legalComments: "none", minifySyntax: true, target: "esnext", treeShaking: true }
  const made = await transform(code, options)
  // esbuild keeps the documentation of members.
  return withoutComments(made.code)
}

/** Types without what belongs to the workspace: source maps, and the documentation of modules that no application imports. */
const typesOf = (path, text) => {
  const types = text.replace(/^\/\/# sourceMappingURL=.*\n?/m, "")
  return /^internal\/(?!ClientErrors)/.test(path) ? withoutComments(types) : types
}

/**
 * The built modules that are exported, and those that they import, with their types, by path.
 *
 * @param others files of the package that are made otherwise
 */
const modulesOf = async (folder, exported, others) => {
  // The folder of the build may hold modules of earlier sources.
  const sources = Object.keys(await filesOf(join(folder, "src"))).filter((path) => path.endsWith(".ts"))
  const built = sources.flatMap((path) => [".js", ".d.ts"].map((end) => path.replace(/\.ts$/, end)))
  const entries = Object.values(exported).flatMap((one) =>
    Object.values(one).flatMap((pattern) => {
      const [start, end] = pattern.slice("./dist/".length).split("*")
      if (end === undefined) return [start]
      return built.filter((path) => path.startsWith(start) && path.endsWith(end))
    })
  )
  const modules = {}
  const add = async (path) => {
    if (path in modules || path in others) return
    modules[path] = ""
    const text = await readFile(join(folder, "dist", path), "utf8")
    const isTypes = path.endsWith(".d.ts")
    modules[path] = isTypes ? typesOf(path, text) : withoutComments(text)
    const imports = importsOf(modules[path]).filter((name) => name.startsWith("."))
    for (const name of imports) await add(join(path, "..", isTypes ? name.replace(/\.js$/, ".d.ts") : name))
  }
  for (const path of entries) await add(path)
  const code = Object.keys(modules).filter((path) => path.endsWith(".js"))
  const used = code.map((path) => {
    const others = code.filter((other) => other !== path).map((other) => modules[other])
    return entries.includes(path) ? modules[path] : withoutUnused(modules[path], others)
  })
  const short = await Promise.all(used.map(shortened))
  return { ...modules, ...Object.fromEntries(code.map((path, index) => [path, short[index]])) }
}

/**
 * The client for Effect 4 as one module with chunks. The Promise client is in it with its Effect 3, and only the Effect of the
 * application is not.
 */
const bundled = async (folder, version) => {
  const outdir = join(folder, "dist")
  const options = settings(version)
  const effectOfApplication = {
    name: "effect-of-application",
    setup({ onResolve }) {
      onResolve({ filter: /^effect(\/|$)/ }, ({ importer }) =>
        importer.startsWith(outdir) ? { external: true } : undefined
      )
    }
  }
  const { metafile, outputFiles } = await build({
    ...options,
    plugins: [effectOfApplication, plainErrors, ...options.plugins],
    entryPoints: [join(outdir, "index.js")],
    outdir,
    format: "esm",
    // Node prints the line of an error that ends the program.
    lineLimit: 500,
    splitting: true,
    write: false
  })
  const code = Object.fromEntries(outputFiles.map(({ path, text }) => [relative(outdir, path), text]))
  return { code, inputs: Object.keys(metafile.inputs) }
}

const inDist = (files) => Object.fromEntries(Object.entries(files).map(([path, text]) => [`dist/${path}`, text]))

/** The description of a package. */
const describe = (own, { exported, used }) => ({
  name: own.name,
  version: own.version,
  description: own.description,
  license: own.license,
  type: own.type,
  sideEffects: own.sideEffects,
  engines: own.engines,
  exports: exported,
  dependencies:
    own.dependencies && Object.fromEntries(Object.entries(own.dependencies).filter(([name]) => used.has(name))),
  peerDependencies: own.peerDependencies,
  peerDependenciesMeta: own.peerDependenciesMeta
})

/** Returns the files of a library's package by path. Modules that only the workspace imports are not in it. */
const packed = async (folder, { described, inputs, files }) => ({
  ...files,
  "package.json": `${JSON.stringify(described, null, 2)}\n`,
  "README.md": await readFile(join(folder, "README.md")),
  LICENSE: await ownLicence(),
  ...(inputs === undefined ? {} : { "THIRD-PARTY-LICENCES.txt": await thirdParty(inputs) })
})

const read = async (name) => {
  const folder = fileURLToPath(new URL(`packages/${name}`, root))
  const own = JSON.parse(await readFile(join(folder, "package.json"), "utf8"))
  const exported = Object.fromEntries(Object.entries(own.exports).filter(([path]) => path !== "./internal/*"))
  return { folder, own, exported }
}

const usedBy = (modules) => new Set(Object.values(modules).flatMap(importsOf).map(packageOf))

const domain = async () => {
  const { exported, folder, own } = await read("domain")
  const modules = await modulesOf(folder, exported, {})
  return packed(folder, { files: inDist(modules), described: describe(own, { exported, used: usedBy(modules) }) })
}

const namesIn = (code) =>
  [...code.matchAll(/\bexport \{([^}]*)\}|\bexport (?:class|const|function) (\w+)/g)].flatMap(
    ([, list, name]) => list?.split(",").map((each) => each.trim().replace(/^.* as /, "")) ?? [name]
  )

/**
 * The client for Effect 3, whose modules are as they are built, with the promise client, which is bundled. Who uses the second
 * alone installs no other package.
 */
const client = async () => {
  const { exported: all, folder, own } = await read("client")
  const promise = await promiseClient(folder, own.version)
  const isPlain = (path) => path in promise.exported
  const withEffect = Object.entries(all).filter(([path]) => !isPlain(path))
  const bundled = Object.fromEntries(Object.keys(promise.files).map((path) => [path.replace(/^dist\//, ""), true]))
  const modules = await modulesOf(folder, Object.fromEntries(withEffect), bundled)
  const names = withEffect.flatMap(([, { default: path }]) => namesIn(modules[path.slice("./dist/".length)]))
  const exported = Object.fromEntries(
    Object.entries(all).map(([path, conditions]) => [path, promise.exported[path] ?? unlessElsewhere(conditions)])
  )
  const peers = { "@coffer/domain": `^${own.version}`, ...own.peerDependencies }
  const described = {
    ...describe(own, { exported, used: new Set() }),
    sideEffects: [elsewherePath],
    dependencies: undefined,
    peerDependencies: peers,
    peerDependenciesMeta: Object.fromEntries(Object.keys(peers).map((name) => [name, { optional: true }]))
  }
  const elsewhere = { [elsewherePath.slice(2)]: elsewhereModule([...promise.names, ...names]) }
  const files = { ...inDist(modules), ...promise.files, ...elsewhere }
  return packed(folder, { files, described, inputs: promise.inputs })
}

/** The client for Effect 4: one module, with the types of the promise client that its own name. */
const effect4 = async () => {
  const { exported, folder, own } = await read("client-effect4")
  const [{ code, inputs }, found, promise] = await Promise.all([
    bundled(folder, own.version),
    modulesOf(folder, exported, {}),
    plainTypes(fileURLToPath(new URL("packages/client", root)), "promise")
  ])
  const own4 = Object.entries(found).filter(([path]) => path.endsWith(".d.ts"))
  const types = Object.fromEntries([
    ...own4.map(([path, text]) => [path, text.replaceAll('"@coffer/client/promise"', '"./promise.js"')]),
    ...Object.entries(promise).filter(([path]) => path.endsWith(".d.ts"))
  ])
  const modules = { ...types, ...code }
  const described = describe(own, { exported, used: usedBy(modules) })
  return packed(folder, { files: inDist(modules), described, inputs })
}

/** Returns the packages' files by the packages' file name. */
export const libraries = async ({ version }) => {
  const [one, two, three] = await Promise.all([client(), effect4(), domain()])
  return {
    [`coffer-client-${version}.tgz`]: one,
    [`coffer-client-effect4-${version}.tgz`]: two,
    [`coffer-domain-${version}.tgz`]: three
  }
}

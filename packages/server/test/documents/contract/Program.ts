import { readdirSync } from "node:fs"
import { join, relative } from "node:path"
import ts from "typescript"

const root = join(import.meta.dirname, "../../../../..")

const filesIn = (folder: string) =>
  readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
    .filter((name) => /\.tsx?$/.test(name))
    .map((name) => join(root, folder, name))

/** The contract and the two programs for people, compiled as one. */
export const makeProgram = () => {
  const config = ts.readConfigFile(join(root, "packages/console/tsconfig.json"), (path) => ts.sys.readFile(path))
  const parsed = ts.parseJsonConfigFileContent(config.config, ts.sys, join(root, "packages/console"))
  const { tsBuildInfoFile: _file, ...options } = parsed.options
  const paths = Object.fromEntries(
    ["domain", "client", "server"].map((name) => [`@coffer/${name}/*`, [join(root, `packages/${name}/src/*`)]])
  )
  return ts.createProgram({
    rootNames: ["domain/src/api", "cli/src", "console/src"].flatMap((folder) => filesIn(`packages/${folder}`)),
    options: {
      ...options,
      ...{ noEmit: true, composite: false, incremental: false },
      types: ["node", "vite/client"],
      paths: { ...paths, "@coffer/client": [join(root, "packages/client/src/index.ts")] }
    }
  })
}

/** The path of a source from `packages/` on, such as `cli/src/main.ts`. */
export const pathOf = (source: ts.SourceFile): string => relative(join(root, "packages"), source.fileName)

/** Calls a function with each node of a tree. */
export const eachNode = (node: ts.Node, see: (node: ts.Node) => void): void => {
  see(node)
  ts.forEachChild(node, (child) => eachNode(child, see))
}

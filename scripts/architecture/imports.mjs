/** The import graph of the modules, read from the sources of all packages. */
import { readdir, readFile } from "node:fs/promises"
import { dirname, join, normalize } from "node:path"
import ts from "typescript"

const root = new URL("../../packages/", import.meta.url)

/** Returns the import specifiers of a module, without type-only imports. */
const specifiersOf = (text) => {
  const found = []
  const visit = (node) => {
    if (ts.isImportDeclaration(node) || ts.isExportDeclaration(node)) {
      const clause = node.importClause ?? node
      const named = ts.isImportDeclaration(node) ? clause.namedBindings : clause.exportClause
      const isType =
        clause.isTypeOnly ||
        (clause.name === undefined && named?.elements?.length > 0 && named.elements.every((one) => one.isTypeOnly))
      if (!isType && node.moduleSpecifier !== undefined) found.push(node.moduleSpecifier.text)
    }
    const isDynamic = ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword
    if (isDynamic && ts.isStringLiteral(node.arguments[0])) found.push(node.arguments[0].text)
    ts.forEachChild(node, visit)
  }
  visit(ts.createSourceFile("module.ts", text, ts.ScriptTarget.Latest))
  return found
}

/**
 * Returns the modules of a package by path: each module's room (folder), its imports within the package, and the packages
 * that it imports. Without migrations, whose imports are history.
 */
export const modulesOf = async (name) => {
  const source = new URL(`${name}/src/`, root)
  const paths = (await readdir(source, { recursive: true }))
    .filter((path) => /\.tsx?$/.test(path) && !path.includes("migrations/"))
    .sort()
  const modules = await Promise.all(
    paths.map(async (path) => {
      const specifiers = specifiersOf(await readFile(new URL(path, source), "utf8"))
      const imports = specifiers
        .filter((specifier) => specifier.startsWith("."))
        .map((specifier) => normalize(join(dirname(path), specifier)).replace(/\.js$/, ".ts"))
      const packages = specifiers.flatMap((specifier) => /^@coffer\/([a-z]+)\//.exec(specifier)?.[1] ?? [])
      return [path, { room: dirname(path), imports, packages }]
    })
  )
  return new Map(modules)
}

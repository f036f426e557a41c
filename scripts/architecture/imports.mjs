/** Which module imports which, read from the sources of all packages. */
import { readdir, readFile } from "node:fs/promises"
import { dirname, join, normalize } from "node:path"
import ts from "typescript"

const root = new URL("../../packages/", import.meta.url)

/** The specifiers that a module imports when it runs. Imports of types alone are left out. */
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
 * The modules of a package by path, each with its room (its folder), what it imports of its package, and which packages it
 * imports. Migrations are left out: they are history, and import what they needed at their time.
 */
export const modulesOf = async (name) => {
  const source = new URL(`${name}/src/`, root)
  const paths = (await readdir(source, { recursive: true }))
    .filter((path) => path.endsWith(".ts") && !path.includes("migrations/"))
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

/**
 * Takes out of the SDK of the tool protocol what no program of ours uses, and what half of the tool server's start would go to:
 * the validators of JSON schemas, and the schemas of each type of the protocol for programs that validate them alone. Fails if
 * the SDK has another form.
 */
import { readFile } from "node:fs/promises"
import { fileURLToPath } from "node:url"

const root = fileURLToPath(new URL("../", import.meta.url))

const replaced = (path, source, pattern, replacement, least) => {
  const found = source.match(pattern)?.length ?? 0
  if (found < least) throw new Error(`${path} has another form: adapt scripts/tool-protocol.mjs`)
  return source.replace(pattern, replacement)
}

export const leanToolProtocol = {
  name: "lean-tool-protocol",
  setup({ onLoad, onResolve }) {
    onResolve({ filter: /^@modelcontextprotocol\/server\/_shims$/ }, ({ path }) => ({ path, namespace: "shims" }))
    onLoad({ filter: /.*/, namespace: "shims" }, () => ({
      contents:
        'import process from "node:process"; class DefaultJsonSchemaValidator {} export { DefaultJsonSchemaValidator, process }',
      resolveDir: root
    }))
    onLoad({ filter: /@modelcontextprotocol\/server\/dist\/src-[^/]*\.mjs$/ }, async ({ path }) => {
      const source = await readFile(path, "utf8")
      return { contents: replaced(path, source, /^for \(const .* register\(key, .*\);$/gm, "", 2), loader: "js" }
    })
    // Few messages come to a start, so functions compiled from text, zod's other way to check them, would not pay.
    onLoad({ filter: /zod\/v4\/core\/core\.js$/ }, async ({ path }) => {
      const source = await readFile(path, "utf8")
      const contents = replaced(path, source, /(__zod_globalConfig = )\{\}/g, "$1{ jitless: true }", 1)
      return { contents, loader: "js" }
    })
    // A schema that nothing uses is left out if its construction has no effect.
    onLoad({ filter: /@modelcontextprotocol\/core\/dist\/[^/]*\.mjs$/ }, async ({ path }) => {
      const source = await readFile(path, "utf8")
      const declaration = /^const (\w+Schema) = ([^]*?);\n(?=[^\t}\])]|$)/gm
      const contents = replaced(path, source, declaration, "const $1 = /* @__PURE__ */ (() => $2)();\n", 0)
      return { contents, loader: "js" }
    })
  }
}

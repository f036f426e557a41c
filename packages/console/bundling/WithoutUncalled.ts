import { readdirSync, readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import type { Plugin } from "vite"
import { type Cut, cutsIn, isNode, listOf, nameOf, withCuts } from "./Syntax.js"

const source = fileURLToPath(new URL("../src", import.meta.url))

const call = /\b(?:call|plainCall)\(\s*"(\w+)",\s*(\S+) =>/g

/** The endpoints that the pages call, such as `auth.me`: each call names its group, and `api` is its client. */
const findCalled = (): ReadonlySet<string> => {
  const found = new Set<string>()
  for (const name of readdirSync(source, { encoding: "utf8", recursive: true })) {
    if (!/\.tsx?$/.test(name)) continue
    const code = readFileSync(`${source}/${name}`, "utf8")
    const calls = [...code.matchAll(call)]
    for (const [index, { 1: group = "", 2: parameter, index: start }] of calls.entries()) {
      if (parameter !== "(api)") throw new Error(`${name}: name the parameter of call("${group}", …) api`)
      const text = code.slice(start, calls[index + 1]?.index)
      for (const [, endpoint = ""] of text.matchAll(/\bapi\.(\w+)/g)) found.add(`${group}.${endpoint}`)
    }
  }
  return found
}

/** The string that the first call of a chain has as its first argument, such as `get("find", …).annotate(…)`. */
const firstOf = (node: unknown, object: string): string | undefined => {
  if (!isNode(node) || node.type !== "CallExpression" || !isNode(node["callee"])) return undefined
  const { callee } = node
  if (nameOf(callee["object"]) !== object) return firstOf(callee["object"], object)
  const [first] = listOf(node["arguments"])
  return isNode(first) && typeof first["value"] === "string" ? first["value"] : undefined
}

/** Leaves out the endpoints that no page calls, and the annotations of endpoints, which are for servers. */
export const withoutUncalled = (): Plugin => {
  const called = findCalled()
  return {
    name: "without-uncalled",
    transform(code, id) {
      if (!/\/domain\/dist\/api\/\w+Api\.js$/.test(id)) return null
      const cutCall = (node: Readonly<Record<string, unknown>> & { readonly end: number }, cuts: Array<Cut>) => {
        const { callee } = node
        if (!isNode(callee) || !isNode(callee["object"])) return
        const { end: start } = callee["object"]
        const cut = () => cuts.push({ start, end: node.end, replacement: "" })
        const method = nameOf(callee["property"])
        if (method === "annotate") cut()
        if (method !== "add") return
        const [group, endpoint] = [
          firstOf(callee["object"], "HttpApiGroup"),
          firstOf(listOf(node["arguments"])[0], "HttpApiEndpoint")
        ]
        if (group !== undefined && endpoint !== undefined && !called.has(`${group}.${endpoint}`)) cut()
      }
      return { code: withCuts(code, cutsIn(this.parse(code), cutCall)), map: null }
    }
  }
}

import { createHash } from "node:crypto"
import type { Plugin } from "vite"
import { type Cut, isNode, withCuts } from "./Syntax.js"

/** The keys of Effect's types, services and annotations, such as `effect/annotation/Title`. */
const key = /^@?effect\/[\w/@.-]+$/

const imports = /^(?:Import|Export(?:All|Named))Declaration$/

/**
 * Shortens the keys by which Effect finds its types, services and annotations. Programs compare them only with themselves,
 * and one copy of Effect is in the console.
 */
export const shortKeys = (): Plugin => {
  const longOf = new Map<string, string>()
  // By its text alone: modules come in another order each time.
  const shortOf = (text: string): string => {
    const short = createHash("sha256").update(text).digest("base64url").slice(0, 3)
    if ((longOf.get(short) ?? text) !== text) throw new Error(`${text} and ${longOf.get(short)} have one short key`)
    longOf.set(short, text)
    return JSON.stringify(short)
  }
  const visit = (node: unknown, cuts: Array<Cut>): void => {
    if (Array.isArray(node)) for (const one of node) visit(one, cuts)
    if (!isNode(node)) return
    const { end, start } = node
    const { value } = node
    if (node.type === "Literal" && typeof value === "string" && key.test(value)) {
      cuts.push({ start, end, replacement: shortOf(value) })
    }
    for (const [name, child] of Object.entries(node)) {
      if (typeof child === "object" && !(name === "source" && imports.test(node.type))) visit(child, cuts)
    }
  }
  return {
    name: "short-keys",
    transform(code, id) {
      if (!/\/node_modules\/(?:effect|@effect\/platform)\/dist\/esm\/.+\.js$/.test(id)) return null
      const cuts: Array<Cut> = []
      visit(this.parse(code).body, cuts)
      return cuts.length === 0 ? null : { code: withCuts(code, cuts), map: null }
    }
  }
}

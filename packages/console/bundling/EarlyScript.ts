import type { Plugin, Rollup } from "vite"

const source = "/src/early.ts"
const matrix = "/src/pages/matrix/Page.tsx"

/** The files of a chunk that are not of every page. */
const filesOf = (bundle: Rollup.OutputBundle, chunk: Rollup.OutputChunk): ReadonlyArray<string> => {
  const known = new Set<string>()
  const add = (name: string) => {
    const found = bundle[name]
    if (found?.type !== "chunk" || known.has(name) || /^(?:early|index)$/.test(found.name)) return
    known.add(name)
    for (const one of found.imports) add(one)
  }
  add(chunk.fileName)
  return [...known]
}

/**
 * Puts the first script into the page: before all others, and not after the style sheet, for which the scripts of a page wait
 * unless they are `async`. It learns from the page which scripts the matrix has.
 */
export const earlyScript: Plugin = {
  name: "early-script",
  transformIndexHtml: {
    order: "post",
    handler: (_, { bundle = {} }) => {
      const chunks = Object.values(bundle).filter((one) => one.type === "chunk")
      const early = chunks.find(({ name }) => name === "early")
      const page = chunks.find(({ moduleIds }) => moduleIds.some((id) => id.endsWith(matrix)))
      const src = early === undefined ? source : `/${early.fileName}`
      const files = page === undefined ? [] : filesOf(bundle, page)
      return [
        { tag: "script", attrs: { type: "module", async: true, crossorigin: true, src }, injectTo: "head-prepend" },
        { tag: "meta", attrs: { name: "matrix", content: files.map((name) => `/${name}`).join(" ") }, injectTo: "head" }
      ]
    }
  }
}

/** Makes an option of Node of a module's text. */
const importing = (source: string): string => `--import=data:text/javascript,${encodeURIComponent(source)}`

/** Makes the clock of a process wrong: for `NODE_OPTIONS`. */
export const shiftedClock = (millis: number): string =>
  importing(`
    const Right = Date
    globalThis.Date = class extends Right {
      constructor(...all) {
        super(...(all.length === 0 ? [Right.now() + ${millis}] : all))
      }
      static now() {
        return Right.now() + ${millis}
      }
    }`)

/** Replaces text of a module that a process loads, found by the end of its URL: for `NODE_OPTIONS`. */
export const patchedModule = (end: string, text: string, replacement: string): string => {
  const hooks = `
    export const load = async (url, context, next) => {
      const loaded = await next(url, context)
      if (!url.endsWith(${JSON.stringify(end)})) return loaded
      const source = String(loaded.source)
      if (!source.includes(${JSON.stringify(text)})) throw new Error("nothing to patch in " + url)
      return { ...loaded, source: source.replace(${JSON.stringify(text)}, () => ${JSON.stringify(replacement)}) }
    }`
  return importing(`
    import { register } from "node:module"
    register(${JSON.stringify(`data:text/javascript,${encodeURIComponent(hooks)}`)})`)
}

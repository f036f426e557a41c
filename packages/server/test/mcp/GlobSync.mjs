/** Lets the conformance suite start on Node 20, whose `fs` has no `globSync`: the suite's servers part does not call it. */
import { register } from "node:module"

const source = (text) => `data:text/javascript,${encodeURIComponent(text)}`

const fs = source(
  "export * from 'node:fs'; export { default } from 'node:fs'; export const globSync = () => { throw new Error('unused') }"
)

register(
  source(`
    export const resolve = (specifier, context, next) =>
      specifier === "fs" && context.parentURL?.includes("/conformance/dist/")
        ? { url: ${JSON.stringify(fs)}, shortCircuit: true }
        : next(specifier, context)
  `)
)

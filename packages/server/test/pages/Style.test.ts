import { readFileSync } from "node:fs"
import { join } from "node:path"
import { style } from "@coffer/server/edges/pages/Style"
import { assert, it } from "vitest"

/** The variables of a style sheet: those of the light scheme and those of the dark one. */
const variablesOf = (css: string) => {
  const [light = "", dark = ""] = css.split("prefers-color-scheme")
  const within = (text: string) =>
    new Map([...text.matchAll(/(--[a-z-]+):\s*([^;}]+)/g)].map(([, name = "", value = ""]) => [name, value.trim()]))
  return { light: within(light), dark: within(dark) }
}

/** The variables of the console, which has both schemes in one list. */
const consoleVariables = (css: string) => {
  const pairs = [...css.matchAll(/(--[a-z-]+): light-dark\((#\w+), (#\w+)\)/g)]
  return {
    light: new Map(pairs.map(([, name, value]) => [name, value])),
    dark: new Map(pairs.map(([, name, , value]) => [name, value]))
  }
}

it("the login page has the colours of the console", () => {
  const console = consoleVariables(
    readFileSync(join(import.meta.dirname, "../../../console/src/styles/base.css"), "utf8")
  )
  const { dark, light } = variablesOf(style)
  assert.isAbove(light.size, 5)
  for (const [name, value] of light) assert.strictEqual(console.light.get(name), value, name)
  for (const [name, value] of dark) assert.strictEqual(console.dark.get(name), value, `${name}, dark`)
})

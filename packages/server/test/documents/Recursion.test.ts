import { assert, it } from "@effect/vitest"
import { readdirSync, readFileSync } from "node:fs"
import { basename } from "node:path"

const source = new URL("../../src", import.meta.url).pathname

/** Recursions whose depth is bounded by a constant. */
const bounded = ["Decoders.ts viewsHold"]

/** Declarations whose generator runs itself: each round keeps a frame, so that a long run takes memory without end. */
const recursive = (text: string): ReadonlyArray<string> => {
  const lines = text.split("\n")
  return lines.flatMap((line, at) => {
    const [, indent, name] = /^( *)(?:export )?const (\w+)\b/.exec(line) ?? []
    if (indent === undefined || name === undefined) return []
    const end = lines.findIndex((other, index) => index > at && other !== "" && !other.startsWith(`${indent} `))
    const body = lines.slice(at + 1, end === -1 ? lines.length : end).join("\n")
    return new RegExp(`yield\\*\\s+(?:\\w+\\()*${name}\\b[(\\s]`).test(body) ? [name] : []
  })
}

it("no generator of the server repeats itself by recursion", () => {
  const files = readdirSync(source, { recursive: true, encoding: "utf8" }).filter((file) => file.endsWith(".ts"))
  const found = files.flatMap((file) =>
    recursive(readFileSync(`${source}/${file}`, "utf8")).map((name) => `${basename(file)} ${name}`)
  )
  assert.isAbove(files.length, 100)
  assert.deepStrictEqual(found, bounded)
})

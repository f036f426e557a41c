import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "vitest"
import { tree } from "../../src/Commands.js"
import { locate } from "../../src/grammar/Tree.js"

/** Words behind the name of a group that begin a sentence about it. */
const verbs = new Set(["gives", "on", "sends", "takes"])

const root = join(import.meta.dirname, "../../..")

const sources = ["cli", "client", "client-effect4", "console", "domain", "mcp", "server"].flatMap((name) =>
  readdirSync(join(root, name, "src"), { recursive: true, encoding: "utf8" })
    .filter((file) => /\.tsx?$/.test(file))
    .map((file) => join(name, "src", file))
)

/** The commands that a text names, such as `coffer acl revoke`; and those of a group whose name the text has alone. */
const namedIn = (text: string): ReadonlyArray<ReadonlyArray<string>> =>
  [...text.matchAll(/\bcoffer ([a-z][a-z-]*)(?: ([a-z][a-z-]*))?/g)].map(([, first = "", second]) =>
    second === undefined ? [first] : [first, second]
  )

describe("a message, a mail or a comment", () => {
  it("names no command of a group that the group does not have", () => {
    const missing = sources.flatMap((file) =>
      namedIn(readFileSync(join(root, file), "utf8")).flatMap((words) => {
        const found = locate(tree, words)
        const isWord = words.length === 1 || verbs.has(words[1] ?? "")
        return found.type === "unknown" && found.path.length > 0 && !isWord
          ? [`${file}: coffer ${words.join(" ")}`]
          : []
      })
    )
    assert.deepStrictEqual(missing, [])
  })

  it("would be noticed with another verb than the group's", () => {
    assert.deepStrictEqual(namedIn("run coffer service-account delete NAME"), [["service-account", "delete"]])
    assert.strictEqual(locate(tree, ["service-account", "delete"]).type, "unknown")
  })
})

import { readdirSync, readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { targetKinds } from "@coffer/domain/secrets/TargetKinds"
import { kinds } from "@coffer/server/secrets/delivery/Kinds"
import { assert, describe, it } from "vitest"

const at = (path: string) => fileURLToPath(new URL(`../../../../${path}`, import.meta.url))
const folder = "packages/server/src/secrets/delivery/kinds"

describe("the kinds of targets", () => {
  it("have at most 150 lines each", () => {
    const files = readdirSync(at(folder))
    assert.isAtLeast(files.length, Object.keys(targetKinds).length)
    const long = files.filter((file) => readFileSync(at(`${folder}/${file}`), "utf8").split("\n").length > 150)
    assert.deepStrictEqual(long, [])
  })

  it("are documented with what a list tells, the page of the platform that says so, and how to begin", () => {
    const page = readFileSync(at("docs/delivery.md"), "utf8")
    const rows = [
      ...page.matchAll(
        /^\| `([a-z-]+)` +\| (values|versions|times|names)\b[^|]*\|[^|]*\| \[[^\]]+\]\(https:\/\/[^)]+\) +\|$/gm
      )
    ]
    assert.deepStrictEqual(
      Object.fromEntries(rows.map(([, kind, tells]) => [kind, tells])),
      Object.fromEntries(Object.entries(kinds).map(([kind, { tells }]) => [kind, tells]))
    )
    for (const kind of Object.keys(targetKinds)) assert.include(page, `--kind ${kind}`)
  })
})

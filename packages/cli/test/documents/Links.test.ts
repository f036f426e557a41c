import { existsSync, statSync } from "node:fs"
import { dirname, join, normalize } from "node:path"
import { assert, describe, expect, it } from "vitest"
import { pages, root } from "../support/Documents.js"

const withoutCode = (text: string) => text.replace(/^```[\s\S]*?^```$/gm, "").replace(/`[^`\n]*`/g, "")

/** The anchors of a page, as GitHub makes them of its headings. */
const anchorsOf = (text: string): ReadonlySet<string> => {
  const seen = new Map<string, number>()
  const headings = [...text.replace(/^```[\s\S]*?^```$/gm, "").matchAll(/^#{1,6} +(.+?) *$/gm)]
  return new Set(
    headings.map(([, heading = ""]) => {
      const slug = heading
        .replace(/\[([^\]]*)\]\([^)]*\)/g, "$1")
        .toLowerCase()
        .replace(/[^\p{L}\p{N}\s_-]/gu, "")
        .replace(/ /g, "-")
      const count = seen.get(slug) ?? 0
      seen.set(slug, count + 1)
      return count === 0 ? slug : `${slug}-${count}`
    })
  )
}

const anchors = new Map(pages.map(({ path, text }) => [path, anchorsOf(text)]))

const linksOf = (text: string) => [...withoutCode(text).matchAll(/\]\(([^()\s]+)\)/g)].map(([, link = ""]) => link)

const problemOf = (page: string, link: string): string | null => {
  if (/^[a-z]+:/.test(link)) {
    const isSound = URL.canParse(link) && (link.startsWith("https://") || link.startsWith("mailto:"))
    return isSound ? null : "is no address that begins with https:"
  }
  const [file = "", anchor] = link.split("#")
  const target = file === "" ? page : normalize(join(dirname(page), file))
  if (target.startsWith("..") || !existsSync(join(root, target))) return "leads to nothing"
  if (anchor === undefined) return null
  if (statSync(join(root, target)).isDirectory()) return "names a heading of a folder"
  return anchors.get(target)?.has(anchor) === true ? null : "leads to no heading"
}

describe.each(pages)("$path", ({ path, text }) => {
  it("has only links that lead somewhere", () => {
    const problems = linksOf(text).flatMap((link) => {
      const problem = problemOf(path, link)
      return problem === null ? [] : [`${link} ${problem}`]
    })
    assert.deepStrictEqual(problems, [])
  })
})

it("is a check that finds what is wrong", () => {
  expect(problemOf("docs/cli.md", "nowhere.md")).toBe("leads to nothing")
  expect(problemOf("docs/cli.md", "mcp.md#nowhere")).toBe("leads to no heading")
  expect(problemOf("docs/cli.md", "../README.md#start")).toBe(null)
  expect(problemOf("docs/cli.md", "http://example.com")).not.toBe(null)
  expect(problemOf("docs/cli.md", "../../../etc/passwd")).toBe("leads to nothing")
})

it("leads from the README to every page by at most two links, the first of them to a door or an index", () => {
  const targetsOf = ({ path, text }: (typeof pages)[number]) =>
    linksOf(text).map((link) => normalize(join(dirname(path), link.split("#")[0] ?? "")))
  const readme = pages.find(({ path }) => path === "README.md")!
  const first = new Set(targetsOf(readme))
  const doors = pages.filter(({ path }) => first.has(path) && /^docs\/i-[a-z-]+\.md$/.test(path))
  assert.lengthOf(doors, 4)
  const indexes = pages.filter(({ path }) => ["docs/operations.md", "docs/internals/architecture.md"].includes(path))
  const linked = new Set([...first, ...[...doors, ...indexes].flatMap(targetsOf)])
  const missing = pages.filter(({ path }) => path.startsWith("docs/") && !linked.has(path)).map(({ path }) => path)
  assert.deepStrictEqual(missing, [])
})

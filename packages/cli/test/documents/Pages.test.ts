import { readFileSync } from "node:fs"
import { assert, describe, it } from "vitest"
import { pages, root } from "../support/Documents.js"

/** Pages to look things up in, whose length is that of what they list. */
const references = [
  "docs/api.md",
  "docs/cli.md",
  "docs/configuration.md",
  "docs/console.md",
  "docs/internals/architecture.md",
  "docs/internals/benchmarks.md",
  "docs/licences.md",
  "docs/metrics.md",
  "docs/observability.md"
]

const withoutCode = (text: string) => text.replace(/^```[\s\S]*?^```$/gm, "").replace(/<!--[\s\S]*?-->/g, "")

/** The sentences of a page outside its code, tables and headings. Code in a sentence is one word. */
const sentencesOf = (text: string) =>
  withoutCode(text)
    .split(/\n\s*\n|\n(?=\s*(?:[-*|]|\d+\.) ?)/)
    .map((paragraph) => paragraph.trim())
    .filter((paragraph) => paragraph !== "" && !/^[|#!]/.test(paragraph))
    .flatMap((paragraph) =>
      paragraph
        .replace(/^(?:- |\d+\. )/, "")
        .replace(/`[^`]*`/g, "code")
        .replace(/\[([^\]]*)\]\([^)]*\)/g, "$1")
        .replaceAll("**", "")
        .split(/(?<=[.!?:;])\s+/)
    )

const wordsIn = (text: string) => text.split(/\s+/).filter((word) => word !== "").length

describe.each(pages.filter(({ path }) => path.startsWith("docs/")))("$path", ({ path, text }) => {
  it("says in its first sentence for whom it is", () => {
    const [title, first] = withoutCode(text)
      .split(/\n\s*\n/)
      .map((paragraph) => paragraph.trim())
      .filter((paragraph) => paragraph !== "")
    assert.match(title ?? "", /^# \S/)
    assert.match(first ?? "", /^For [a-z]/)
  })

  it("has at most 2,000 words of text, unless it is a reference", () => {
    if (!references.includes(path)) assert.isAtMost(wordsIn(withoutCode(text)), 2000)
  })
})

describe.each(pages.filter(({ path }) => path === "README.md" || path.startsWith("docs/")))(
  "the text of $path",
  ({ text }) => {
    it("has at most 25 words a sentence", () => {
      assert.deepStrictEqual(
        sentencesOf(text).filter((sentence) => wordsIn(sentence) > 25),
        []
      )
    })
  }
)

describe.each(pages.filter(({ path }) => path.startsWith("docs/operations/")))("the runbook $path", ({ text }) => {
  it("says what you need before its first command and its first section", () => {
    const [, beginning = ""] = /^# .*\n([\s\S]*?)(?=^(?:```|#|- |\d+\. |\|))/m.exec(text) ?? []
    assert.match(beginning, /\bYou need \S/)
  })
})

it("counts the words of a sentence: code is one, and the address of a link does not count", () => {
  assert.deepStrictEqual(
    sentencesOf("# A title\n\nRun `coffer secret get KEY` in [the client](cli.md). Then stop.\n"),
    ["Run code in the client.", "Then stop."]
  )
})

describe("the change log", () => {
  const [, ...releases] = readFileSync(`${root}CHANGELOG.md`, "utf8").split(/^(?=## )/m)

  it("has Added, Changed, Fixed, Security and Upgrade for each release, in this order", () => {
    const kinds = ["Added", "Changed", "Fixed", "Security", "Upgrade"]
    for (const text of releases) {
      const found = [...text.matchAll(/^### (.*)$/gm)].map(([, kind = ""]) => kind)
      assert.deepStrictEqual(
        found,
        kinds.filter((kind) => found.includes(kind))
      )
      assert.includeMembers(found, ["Added", "Upgrade"])
    }
  })

  it("has at most 60 lines a release", () => {
    for (const text of releases) assert.isAtMost(text.trim().split("\n").length, 60, text.split("\n")[0])
  })
})

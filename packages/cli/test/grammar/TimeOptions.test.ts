import { assert, describe, it } from "vitest"
import { tree } from "../../src/Commands.js"
import { shownNodes } from "../../src/grammar/Tree.js"
import { optionText } from "../../src/grammar/Usage.js"

/** The words for time: how long something lasts, until when, and a range. */
const words = ["for", "until", "since"]

/** The options that take a time under another name, each with the reason why `--for` or `--until` would say less. */
const reasons: Readonly<Record<string, string>> = {
  before: "of backup restore: chooses a backup by when it was made; --until would say how long the restored file lasts",
  grace: "how long the old key is still valid; --for says elsewhere how long the new one is",
  "rotate-every": "a period that begins again with each version, beside --for of the same command",
  "requests-wait": "how long requests wait; --for would say how long the protection lasts",
  "session-for": "of the sessions that begin by it, beside --for of the same command, how long it is trusted",
  "max-age": "how old a token may be when it comes, beside --for and --session-for of the same command",
  "watch-interval": "a period, one of four times of coffer run",
  "stop-timeout": "of the end of a command, one of four times of coffer run",
  "offline-max-age": "how old a copy may be when it is used, one of four times of coffer run"
}

const shown = shownNodes(tree.nodes).flatMap((node) => {
  const leaves = node.type === "command" ? [node] : shownNodes(node.commands)
  return leaves.flatMap((leaf) => leaf.options.filter(({ isOld }) => isOld !== true))
})

const takesTime = (text: string, description: string) =>
  /[ =[](?:DURATION|TIME)\b/.test(text) || /such as [0-9]+[smhdw]\b|in seconds|in days/.test(description)

const timed = new Set(
  shown.filter((option) => takesTime(optionText(option), option.description)).map(({ name }) => name)
)

describe("an option that takes a time", () => {
  it("is --for, --until or --since, or has a reason for its own name", () => {
    assert.deepStrictEqual([...timed].sort(), [...words, ...Object.keys(reasons)].sort())
  })

  it("says in the help that it takes a time", () => {
    for (const option of shown.filter(({ name }) => timed.has(name) && name !== "before")) {
      assert.match(optionText(option), / (?:DURATION|TIME)$/, option.name)
    }
  })
})

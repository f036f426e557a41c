import { assert, beforeAll, describe, it } from "vitest"
import { contractFields, type Field, type Fields } from "./contract/Fields.js"
import { makeProgram } from "./contract/Program.js"
import { notInClient, notInConsole, notSentByClient, notSentByConsole, type Reasons } from "./contract/Reasons.js"
import { type Uses, usesIn } from "./contract/Uses.js"

const isNamed = (title: string) => (pattern: string) =>
  pattern.endsWith("*") ? title.startsWith(pattern.slice(0, -1)) : title === pattern

let fields: Fields
let cli: Uses
let webConsole: Uses

beforeAll(async () => {
  const program = makeProgram()
  fields = await contractFields(program)
  cli = await usesIn(program, fields, "cli")
  webConsole = await usesIn(program, fields, "console")
})

/** Compares the fields that a program leaves out with those that there is a reason for. */
const check = (isLeftOut: (field: Field) => boolean, reasons: Reasons) => {
  const found = [...fields.values()].filter(isLeftOut).map(({ title }) => title)
  const patterns = Object.values(reasons).flat()
  assert.deepStrictEqual(
    {
      "without a reason": found.filter((title) => !patterns.some(isNamed(title))),
      "with a reason, and not left out": patterns.filter((pattern) => !found.some((title) => isNamed(title)(pattern)))
    },
    { "without a reason": [], "with a reason, and not left out": [] }
  )
}

describe("each field of a response", () => {
  it("is shown by the command line, in text or with --json, or has a reason", () => {
    check((field) => field.isAnswered && !cli.read.has(field) && !cli.printed.has(field), notInClient)
  })

  it("is shown by the console, or has a reason", () => {
    check((field) => field.isAnswered && !webConsole.read.has(field), notInConsole)
  })
})

describe("each field of a body", () => {
  it("is sent by the command line, or has a reason", () => {
    check((field) => field.isSent && !cli.sent.has(field), notSentByClient)
  })

  it("is sent by the console, or has a reason", () => {
    check((field) => field.isSent && !webConsole.sent.has(field), notSentByConsole)
  })
})

describe("the search for fields", () => {
  it("finds those of all groups, and most are shown and sent", () => {
    const all = [...fields.values()]
    assert.isAbove(all.length, 800)
    assert.isAbove(all.filter((field) => webConsole.read.has(field)).length, 300)
    assert.isAbove(all.filter((field) => cli.sent.has(field)).length, 100)
  })
})

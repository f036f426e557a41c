import { Either } from "effect"
import * as fc from "fast-check"
import { assert, describe, it } from "vitest"
import { formatNames } from "@coffer/domain/formats/FormatNames"
import { carried, formats, pairs, tricky } from "./Support.js"
import { runs } from "../../../domain/test/support/Runs.js"

describe.each(formatNames)("%s", (name) => {
  const format = formats[name]

  it("reads back what it wrote, to the same bytes", () => {
    fc.assert(
      fc.property(pairs, (all) => {
        const taken = carried(format, all)
        const entries = Either.getOrThrow(format.read(format.write(taken)))
        assert.deepStrictEqual(
          entries.map(({ key, value }) => ({ key, value })),
          taken.map(({ key, value }) => ({ key, value }))
        )
      }),
      { numRuns: runs(1_000) }
    )
  })

  it("says for each pair that it refuses why, without the value", () => {
    for (const [index, value] of tricky.entries()) {
      const refusal = format.refusal({ key: `KEY_${index}`, value })
      if (refusal === undefined) continue
      assert.match(refusal, /^(has|makes) /)
      if (value.trim().length > 2) assert.notInclude(refusal, value)
    }
  })
})

it("has two formats that carry everything", () => {
  fc.assert(
    fc.property(pairs, (all) => {
      for (const name of ["json", "yaml"] as const) assert.lengthOf(carried(formats[name], all), all.length)
    }),
    { numRuns: runs(200) }
  )
})

/** The tricky texts that each format refuses, so that it does not come to refuse more. */
it.each([
  [
    "env",
    ["'\"`", "\n'\"`", "a\n\\", '"\r', "a\r\nb\r\n", "\0", "${HOME}", "it's $5", `it's "#1"`],
    [
      "x'\"`",
      "it's",
      "a\\",
      '{"a":"it\'s"}',
      "x\\' y",
      "C:\\new",
      "\\\\server",
      "$2y$10",
      "`date`",
      "a#b",
      "a\n#'",
      "it's #1",
      ""
    ]
  ],
  ["shell", ["\0", "a\0b"], ["it's", "a\\", "a\r\nb\r\n", "$(date)", "\u2028"]],
  ["docker", ["a\nb", "a\r", "\0"], ["a\rb", " lead", "trail ", "#", "'quoted'", ""]]
] as const)("%s refuses what it must and no more", (name, refused, taken) => {
  const refusal = (value: string) => formats[name].refusal({ key: "KEY", value })
  for (const value of taken) assert.isUndefined(refusal(value), JSON.stringify(value))
  for (const value of refused) assert.isString(refusal(value), JSON.stringify(value))
})

import { CompactMatrix, makeCompactLists } from "@coffer/domain/secrets/CompactMatrix"
import { matrixOf } from "@coffer/domain/secrets/MatrixOf"
import { Matrix, type MatrixCell } from "@coffer/domain/secrets/Matrix"
import { EnvName, SecretKey } from "@coffer/domain/base/Names"
import * as Schema from "effect/Schema"
import fc from "fast-check"
import { assert, describe, it } from "vitest"
import { runs } from "../support/Runs.js"

const compact = ({ data, environments, others }: Matrix): CompactMatrix => {
  const lists = makeCompactLists()
  for (const row of data) lists.add(row)
  return { environments, others, ...lists.done() }
}

const time = fc
  .date({ min: new Date("2026-01-01"), max: new Date("2027-01-01"), noInvalidDate: true })
  .map((date) => date.toISOString())
const few = <A>(one: fc.Arbitrary<A>) => fc.option(one, { nil: undefined, freq: 5 })

const cell: fc.Arbitrary<MatrixCell> = fc
  .record({
    version: fc.integer({ min: 1, max: 2_147_483_647 }),
    updated_at: time,
    updated_by: fc.constantFrom("ada@example.com", "grace@example.com", "ci", ""),
    same: fc.option(fc.integer({ min: 1, max: 24 })),
    kind: few(fc.constant("reference" as const)),
    expires_at: few(time),
    rotate_every_days: few(fc.integer({ min: 1, max: 3_650 })),
    due_at: few(time)
  })
  .map((all) =>
    Schema.decodeUnknownSync(Matrix.fields.data.from)([{ key: "A", cells: [JSON.parse(JSON.stringify(all))] }])
  )
  .map(([row]) => row?.cells[0] ?? assert.fail("there is a cell"))

const matrix: fc.Arbitrary<Matrix> = fc
  .tuple(fc.integer({ min: 0, max: 4 }), fc.integer({ min: 0, max: 30 }))
  .chain(([columns, rows]) =>
    fc.record({
      environments: fc.constant(
        Array.from({ length: columns }, (_, index) => ({
          name: EnvName.make(`env-${index}`),
          allowed: ["read" as const],
          reveals: true,
          revision: index,
          etag: null
        }))
      ),
      others: fc.constant([]),
      data: fc
        .array(fc.array(fc.option(cell), { minLength: columns, maxLength: columns }), {
          minLength: rows,
          maxLength: rows
        })
        .map((all) => all.map((cells, index) => ({ key: SecretKey.make(`KEY_${index}`), cells })))
    })
  )

describe("the compact form of a matrix", () => {
  it("is read as the matrix that it was made of", () => {
    fc.assert(
      fc.property(matrix, (whole) => {
        const sent: unknown = JSON.parse(JSON.stringify(compact(whole)))
        const received = Schema.decodeUnknownSync(Schema.Union(Matrix, CompactMatrix))(sent)
        assert.deepStrictEqual(matrixOf(received), whole)
      }),
      { numRuns: runs(200) }
    )
  })

  it("leaves a matrix in its full form, and nothing, as they are", () => {
    const whole: Matrix = { environments: [], others: [], data: [{ key: SecretKey.make("A"), cells: [] }] }
    assert.strictEqual(matrixOf(whole), whole)
    assert.isUndefined(matrixOf())
  })

  it("has each key, writer and time once, and less than 12 bytes a cell beside", () => {
    const now = "2026-02-01T08:30:00.000Z"
    const data = Array.from({ length: 1_000 }, (_, index) => ({
      key: SecretKey.make(`SERVICE_SETTING_${index}`),
      cells: Array.from({ length: 5 }, (): MatrixCell => ({
        version: 3,
        updated_at: now,
        updated_by: "ada@example.com",
        same: 1
      }))
    }))
    const { data: rows, writers, writes } = compact({ environments: [], others: [], data })
    assert.deepStrictEqual([writers, writes], [["ada@example.com"], [[Date.parse(now), 0]]])
    const keys = JSON.stringify(rows.map(({ key }) => ({ key, cells: [] }))).length
    assert.isBelow((JSON.stringify(rows).length - keys) / 5_000, 12)
  })
})

import { assert, describe, it } from "vitest"
import { judgeSpace } from "../../src/operations/check/DiskSpace.js"

const mebibyte = 1024 ** 2
const gibibyte = 1024 ** 3

describe("the free space of the disk with the database", () => {
  it.each([
    ["is enough on a large disk that is nearly full", 55 * gibibyte, 252 * gibibyte, mebibyte, "ok"],
    ["is enough on a small disk with a quarter free", gibibyte, 4 * gibibyte, mebibyte, "ok"],
    ["is enough at 10 GiB", 10 * gibibyte, 252 * gibibyte, mebibyte, "ok"],
    ["is scarce below a quarter and below 10 GiB", 10 * gibibyte - 1, 252 * gibibyte, mebibyte, "warning"],
    ["is scarce on a small disk with less than a quarter free", gibibyte - 1, 4 * gibibyte, mebibyte, "warning"],
    ["is scarce below twice the database, however much it is", 55 * gibibyte, 60 * gibibyte, 28 * gibibyte, "warning"],
    ["is too little for a copy of the database", 55 * gibibyte, 252 * gibibyte, 55 * gibibyte, "failed"],
    ["is too little below 16 MiB", 16 * mebibyte - 1, 252 * gibibyte, 0, "failed"]
  ] as const)("%s", (_, free, total, database, status) => {
    const finding = judgeSpace({ free, total, database })
    assert.strictEqual(finding.status, status, finding.message)
    assert.strictEqual(finding.next === undefined, status === "ok")
  })
})

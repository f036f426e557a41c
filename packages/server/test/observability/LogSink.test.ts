import { spawn } from "node:child_process"
import { once } from "node:events"
import { makeLogSink } from "@coffer/server/base/logging/LogSink"
import { afterAll, assert, it } from "vitest"

const children = new Set<ReturnType<typeof spawn>>()
afterAll(() => {
  for (const child of children) child.kill("SIGKILL")
})

/** A reader that prints what it is given. */
const reader = () => {
  const child = spawn("cat", { stdio: ["pipe", "pipe", "ignore"] })
  children.add(child)
  let taken = ""
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    taken += text
  })
  child.stdin.on("error", () => undefined)
  return { child, taken: () => taken }
}

const nextTurn = () => new Promise((resolve) => setImmediate(resolve))
const line = (index: number) => `${index} ${"x".repeat(200)}`
const report = (lines: number) => `${lines} lines are missing`

it("holds a bounded number of lines for a reader that stands still, and tells it later how many are missing", async () => {
  const { child, taken } = reader()
  child.kill("SIGSTOP")
  const sink = makeLogSink(child.stdin)
  sink.reportBy(report)
  for (let index = 0; index < 20_000; index++) {
    sink.write(line(index))
    if (index % 100 === 0) await nextTurn()
    assert.isBelow(child.stdin.writableLength, 512 * 1024)
  }
  const dropped = sink.dropped()
  assert.isAbove(dropped, 15_000)
  child.kill("SIGCONT")
  if (child.stdin.writableNeedDrain) await once(child.stdin, "drain")
  sink.write("the last")
  sink.flush()
  child.stdin.end()
  await once(child, "close")
  const lines = taken().trimEnd().split("\n")
  assert.strictEqual(lines.at(-1), "the last")
  const reported = lines.flatMap((text) => /^(\d+) lines are missing$/.exec(text)?.[1] ?? [])
  assert.strictEqual(
    reported.reduce((sum, count) => sum + Number(count), 0),
    dropped
  )
  assert.strictEqual(lines.length - reported.length, 20_000 - dropped + 1)
  assert.strictEqual(sink.dropped(), dropped)
})

it("counts what a reader that has gone did not take", async () => {
  const { child } = reader()
  child.kill("SIGKILL")
  await once(child, "close")
  const sink = makeLogSink(child.stdin)
  for (let index = 0; index < 3; index++) sink.write(line(index))
  sink.flush()
  while (sink.dropped() < 3) await nextTurn()
  assert.strictEqual(sink.dropped(), 3)
})

import { assert, describe, it } from "vitest"
import { Program } from "../support/Program.js"
import { isSoak } from "../../../domain/test/support/Runs.js"

// One organization compares large environments and writes one of them; another one reads and writes single secrets. What the other
// waits is wall time, which other programs on the machine lengthen: so the best of some tries counts, and three times the budget.
const budget = 250
const tolerance = 3
const attempts = 4
const rounds = isSoak ? 6 : 2

const keys = 2_000
const diffs = 5

const bulkOf = (round: number) =>
  Object.fromEntries(Array.from({ length: keys }, (_, index) => [`KEY_${index}`, `${round} of ${index}`.padEnd(128)]))

/** Logs a person in who founds an organization with one project. */
const founder = async (program: Program, org: string) => {
  const email = `${org}@example.com`
  await program.call("POST", "/api/auth/login", { body: { email } })
  const [, code] = await program.said(new RegExp(`^login code for ${email}: (\\d{6})$`, "m"))
  const { body } = await program.call("POST", "/api/auth/verify", { body: { email, code } })
  const token: string = body.token
  await program.call("POST", "/api/orgs", { token, body: { name: org } })
  await program.call("POST", `/api/orgs/${org}/projects`, { token, body: { name: "web" } })
  return { token, envs: `/api/orgs/${org}/projects/web/envs` }
}

const start = async () => {
  const program = await Program.start({ SMTP_HOST: "log" })
  const [large, small] = [await founder(program, "large"), await founder(program, "small")]
  for (const env of ["dev", "staging", "prod"]) {
    await program.call("PATCH", `${large.envs}/${env}/bundle`, { token: large.token, body: { set: bulkOf(0) } })
  }
  await program.call("PATCH", `${small.envs}/prod/bundle`, { token: small.token, body: { set: { KEY: "value" } } })
  return { program, large, small }
}

/** The longest read and the longest write of the small organization beside the bulk of the large one, in milliseconds. */
const measure = async ({ large, program, small }: Awaited<ReturnType<typeof start>>, attempt: number) => {
  let isOver = false
  const repeat = async (method: string, path: string, token: string, body: () => unknown) => {
    let longest = 0
    while (!isOver) {
      const begun = performance.now()
      const { status } = await program.call(method, path, { token, body: body() })
      assert.strictEqual(status, 200)
      longest = Math.max(longest, performance.now() - begun)
    }
    return longest
  }
  const none = () => undefined
  const others = Promise.all([
    repeat("GET", `${small.envs}/prod/secrets/KEY`, small.token, none),
    repeat("PUT", `${small.envs}/prod/secrets/KEY`, small.token, () => ({ value: String(performance.now()) })),
    ...Array.from({ length: diffs }, () => repeat("GET", `${large.envs}/prod/diff?with=staging`, large.token, none))
  ])
  for (let round = 1; round <= rounds; round++) {
    await program.call("PATCH", `${large.envs}/dev/bundle`, {
      token: large.token,
      body: { set: bulkOf(attempt * rounds + round) }
    })
  }
  isOver = true
  const [read, write] = await others
  return { read, write }
}

describe("beside five diffs and a bulk write of 2,000 keys of one organization", () => {
  // Its limit is of time, which a busy machine misses.
  it.skipIf(!isSoak)("another one's reads and writes stay short", async () => {
    const scene = await start()
    let best = { read: Infinity, write: Infinity }
    for (let attempt = 0; attempt < attempts && Math.max(best.read, best.write) > budget * tolerance; attempt++) {
      const { read, write } = await measure(scene, attempt)
      best = { read: Math.min(best.read, read), write: Math.min(best.write, write) }
    }
    await scene.program.remove()
    process.stdout.write(`read ${best.read.toFixed(0)} ms, write ${best.write.toFixed(0)} ms\n`)
    assert.isAtMost(best.read, budget * tolerance)
    assert.isAtMost(best.write, budget * tolerance)
  })
})

import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { assert } from "vitest"
import { freshFolder, type Json, Program } from "../support/Program.js"

export const bin = fileURLToPath(new URL("../../bin/coffer-server.js", import.meta.url))
export const secret = "/api/orgs/acme/projects/webshop/envs/dev/secrets/KEY"
export const superadmin = { SUPERADMIN_EMAIL_0: "root@example.com" }

export const linesIn = (text: string): ReadonlyArray<Json> =>
  text
    .split("\n")
    .slice(0, -1)
    .map((line): Json => JSON.parse(line))

/** Waits until something holds. */
export const until = async (holds: () => boolean, what: string): Promise<void> => {
  // Shortly before the test itself is given up, to say what it waits for.
  const deadline = performance.now() + 80_000
  while (!holds()) {
    assert.isBelow(performance.now(), deadline, `in vain for ${what}`)
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}

export const start = async (folder = freshFolder()) => {
  const file = join(folder, "audit.jsonl")
  const program = await Program.start({ ...superadmin, SERVICE_AUDIT_STREAM: file }, folder)
  return { program, file, token: await program.login("root@example.com") }
}

export const makeProject = async (program: Program, token: string) => {
  await program.call("POST", "/api/orgs", { token, body: { name: "acme" } })
  await program.call("POST", "/api/orgs/acme/projects", { token, body: { name: "webshop" } })
}

export const set = async (program: Program, token: string, value: string) => {
  const answer = await program.call("PUT", secret, { token, body: { value } })
  assert.strictEqual(answer.status, 200, answer.text)
}

/** Every entry that the API has, in the order of commit. */
export const allEntries = async (program: Program, token: string): Promise<ReadonlyArray<Json>> => {
  const found: Array<Json> = []
  for (let after = ""; ;) {
    const { body } = await program.call("GET", `/api/audit-logs?limit=100${after}`, { token })
    found.push(...body.data)
    if (!body.pagination.has_next) return found.reverse()
    after = `&after=${body.pagination.next_cursor}`
  }
}

export const ids = (entries: ReadonlyArray<Json>): ReadonlyArray<string> => entries.map(({ id }) => id)

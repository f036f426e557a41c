import { readFileSync, statSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "vitest"
import { Terminal } from "../support/Terminal.js"
import { workplace } from "../support/Workplace.js"

const place = workplace()
const { ok, prints } = place

const file = () => join(place.home.folder, ".config/coffer/delegations")
const stored = () => JSON.parse(readFileSync(file(), "utf8"))[`${place.server.url} acme/webshop/dev`]
/** The delegations of the reads, by the server's log, newest first. */
const readers = async (count: number): Promise<ReadonlyArray<string | undefined>> => {
  const { data, pagination } = await place.server.call(
    "GET",
    "/api/orgs/acme/audit-logs?limit=100&action=secret.read",
    { token: place.home.token }
  )
  // The entries of reads are written after their answers.
  return pagination.total < count
    ? readers(count)
    : data.map(
        ({ metadata }: { readonly metadata: { readonly delegation?: { readonly name: string } } }) =>
          metadata.delegation?.name
      )
}
const refused = async (...args: ReadonlyArray<string>) => {
  const { code, stderr } = await place.home.coffer(args)
  assert.notStrictEqual(code, 0, stderr)
  return { code, stderr }
}

describe("coffer delegate", () => {
  it("keeps the token for commands without a terminal, which take it for its place, until it has ended", async () => {
    await ok("secret", "set", "API_KEY", "hunter2")
    await ok("secret", "set", "OTHER", "other")
    await ok("secret", "set", "API_KEY", "in staging", "--env", "staging")
    // Scripts that log in keep working.
    assert.strictEqual(await prints("secret", "get", "API_KEY"), "hunter2")
    assert.match((await refused("secret", "get", "API_KEY", "--non-interactive")).stderr, /no delegation is stored for/)

    const said = await prints("delegate", "--for", "claude", "--place", "acme/webshop/dev", "--only", "API_KEY")
    assert.match(said, /^claude may read in acme\/webshop\/dev until .*no terminal take it there\n$/)
    assert.strictEqual(statSync(file()).mode & 0o777, 0o600)
    assert.notInclude(said, stored().token)

    assert.strictEqual(await prints("secret", "get", "API_KEY"), "hunter2")
    assert.strictEqual(await prints("run", "--non-interactive", "--", "sh", "-c", "printf $API_KEY$OTHER"), "hunter2")
    assert.deepStrictEqual(await readers(3), ["claude", "claude", undefined])
    assert.strictEqual(await prints("secret", "export", "--format", "json"), '{\n  "API_KEY": "hunter2"\n}\n')
    assert.match((await refused("secret", "set", "API_KEY", "x")).stderr, /gives at most read/)
    assert.match((await refused("secret", "get", "OTHER")).stderr, /limited to other keys/)
    // Elsewhere the session counts, unless nobody is there.
    assert.strictEqual(await prints("secret", "get", "API_KEY", "--env", "staging"), "in staging")
    const alone = await place.home.coffer(["secret", "get", "API_KEY", "--env", "staging"], {
      env: { SERVICE_NON_INTERACTIVE: "1" }
    })
    assert.match(alone.stderr, /no delegation is stored for acme\/webshop\/staging/)
    // At a terminal nothing changes.
    const terminal = Terminal.coffer(place.home, "secret", "get", "OTHER")
    await terminal.sees("other")
    assert.strictEqual(await terminal.ended(), 0)
    assert.deepStrictEqual(await readers(6), [undefined, undefined, "claude", "claude", "claude", undefined])

    assert.match(await prints("delegate", "list"), /claude\tacme\/webshop\/dev\tread\tyes\tAPI_KEY/)
    const ended = { ...stored(), expires_at: "2020-01-01T00:00:00.000Z" }
    const kept = readFileSync(file(), "utf8")
    writeFileSync(file(), JSON.stringify({ [`${place.server.url} acme/webshop/dev`]: ended }), { mode: 0o600 })
    const { stderr } = await refused("secret", "get", "API_KEY")
    assert.match(
      stderr,
      /delegation claude for acme\/webshop\/dev has ended: ask its person to run coffer delegate --for/
    )
    assert.strictEqual(stderr.trim().split("\n").length, 1)
    writeFileSync(file(), kept)

    assert.match(await prints("delegate", "revoke", "claude"), /^delegation claude ended: acme\/webshop\/dev\n$/)
    assert.strictEqual(await prints("secret", "get", "OTHER"), "other")
    assert.match((await refused("delegate", "revoke", "claude")).stderr, /there is no delegation claude of yours/)
    assert.match((await refused("delegate", "--for", "x", "--ttl", "8")).stderr, /--ttl takes a time such as/)
    const made = JSON.parse(await prints("delegate", "--for", "ci", "--ttl", "30m", "--no-reveal", "--json"))
    assert.match(made.token, /^svc_dt_/)
    const whoami = await place.home.coffer(["whoami"])
    assert.include(whoami.stdout, "ada@example.com")
  })
})

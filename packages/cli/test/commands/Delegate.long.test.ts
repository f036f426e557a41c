import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "vitest"
import { momentText } from "../../src/base/Moments.js"
import { Terminal } from "../support/Terminal.js"
import { workplace } from "../support/Workplace.js"

const place = workplace()
const { ok, prints } = place

const config = () => join(place.home.folder, ".config/coffer")
const folder = () => join(config(), "delegations", encodeURIComponent(place.server.url))
const file = (env = "dev") => join(folder(), `acme.webshop.${env}`)
const stored = (env?: string) => JSON.parse(readFileSync(file(env), "utf8"))
/** The names of the person's delegations, by the server. */
const alive = async (): Promise<ReadonlyArray<string>> => {
  const { data } = await place.server.call("GET", "/api/auth/delegations", { token: place.home.token })
  return data.map(({ name }: { readonly name: string }) => name).sort()
}
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

/** Asserts that whoami, the list and doctor say that commands in this folder are refused, and name both ways out. */
const assertEndedIsShown = async () => {
  const ended =
    "the delegation claude for acme/webshop/dev has ended, and commands without a terminal are refused there: coffer delegate acme/webshop/dev --name 'claude' makes another one; coffer delegate revoke 'claude' forgets it, and commands take the session again"
  const elsewhere = join(place.home.folder, "away")
  mkdirSync(elsewhere, { recursive: true })
  assert.include((await place.home.coffer(["whoami"], { cwd: elsewhere })).stdout, ended)
  const listed = await place.home.coffer(["delegate", "list"])
  assert.include(listed.stderr, `coffer: ${ended}\n`)
  const { stored } = JSON.parse(await prints("delegate", "list", "--json"))
  assert.deepInclude(stored[0], { name: "claude", place: "acme/webshop/dev", ended: true })
  assert.notInclude(JSON.stringify(stored), "svc_dt_")
  const doctor = await place.home.coffer(["doctor"])
  assert.deepStrictEqual([doctor.code, doctor.stdout.includes(`problem\tdelegation\t${ended}\n`)], [1, true])
  const away = await place.home.coffer(["doctor"], { cwd: elsewhere })
  assert.include(away.stdout, `warning\tdelegation\t${ended}\n`)
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
    const kept = readFileSync(file(), "utf8")
    writeFileSync(file(), JSON.stringify({ ...stored(), expires_at: "2020-01-01T00:00:00.000Z" }))
    const { stderr } = await refused("secret", "get", "API_KEY")
    assert.match(
      stderr,
      /delegation claude for acme\/webshop\/dev has ended: ask its person to run coffer delegate acme.* --name .*, or to forget it with coffer delegate revoke 'claude'/
    )
    assert.strictEqual(stderr.trim().split("\n").length, 1)
    await assertEndedIsShown()
    writeFileSync(file(), kept)

    assert.match(
      await prints("delegate", "revoke", "claude"),
      /^delegation claude ended: acme\/webshop\/dev; commands without a terminal are refused there, until .*\n$/
    )
    assert.notInclude(readFileSync(file(), "utf8"), "svc_dt_")
    // An agent that still runs does not get the session, with all rights of its person.
    assert.match((await refused("secret", "get", "OTHER")).stderr, /delegation claude for acme\/webshop\/dev has ended/)
    assert.match(await prints("delegate", "revoke", "claude"), /^delegation claude had ended, and is forgotten here\n$/)
    assert.strictEqual(await prints("secret", "get", "OTHER"), "other")
    assert.match((await refused("delegate", "revoke", "claude")).stderr, /there is no delegation claude of yours/)
    assert.match((await refused("delegate", "--for", "x", "--ttl", "8")).stderr, /--ttl takes a time such as/)
    const made = JSON.parse(await prints("delegate", "--for", "ci", "--ttl", "30m", "--no-reveal", "--json"))
    assert.match(made.token, /^svc_dt_/)
    for (const _ of ["end", "forget"]) await ok("delegate", "revoke", "ci")
    assert.isFalse(existsSync(file()))
  })

  it("is kept for each of its environments, which its places name, and ends in all of them", async () => {
    for (const words of [
      ["acme/webshop/dev", "--also", "staging", "--also", "webshop/staging"],
      ["--place", "acme/webshop/dev", "--place", "staging"]
    ]) {
      assert.match(
        await prints("delegate", ...words, "--name", "wide"),
        /^wide may read in acme\/webshop\/dev acme\/webshop\/staging until /
      )
      assert.strictEqual(stored().token, stored("staging").token)
      assert.match(await prints("delegate", "list"), /wide\tacme\/webshop\/dev acme\/webshop\/staging\tread/)
      assert.match(await prints("whoami"), /^of\s+read on acme\/webshop\/dev and acme\/webshop\/staging$/m)
      const there = ["secret", "get", "API_KEY", "--non-interactive", "--env"]
      assert.strictEqual(await prints(...there, "staging"), "in staging")
      assert.match((await refused(...there, "prod")).stderr, /no delegation is stored for/)
      for (const _ of ["end", "forget"]) await ok("delegate", "revoke", "wide")
      assert.deepStrictEqual([existsSync(file()), existsSync(file("staging"))], [false, false])
    }
    assert.match(
      (await refused("delegate", "dev", "--also", "other/webshop/dev", "--name", "wide")).stderr,
      /a delegation is for environments of one organization: other\/webshop\/dev is not of acme/
    )
  })

  it("says who a command is, and what it may", async () => {
    const elsewhere = join(place.home.folder, "elsewhere")
    mkdirSync(elsewhere)
    const whoami = async (options: { readonly cwd?: string; readonly env?: Record<string, string> } = {}) => {
      const { stderr, stdout } = await place.home.coffer(["whoami"], options)
      return `${stdout}${stderr}`
    }
    assert.notMatch(await whoami(), /delegation/)
    await ok("delegate", "--for", "claude", "--place", "acme/webshop/dev", "--only", "API_KEY")
    await ok("delegate", "--for", "ci", "--place", "acme/webshop/prod")
    writeFileSync(file("prod"), JSON.stringify({ ...stored("prod"), expires_at: "2020-01-01T00:00:00.000Z" }))
    assert.match(
      await whoami(),
      /^delegation\s+claude\nof\s+read on acme\/webshop\/dev\nreveal\s+yes\nkeys\s+API_KEY\nuntil\s+20\S+Z$/m
    )
    assert.strictEqual(
      (await whoami({ cwd: elsewhere })).trim().split("\n").at(-2),
      `without a terminal, commands take a delegation in place of this session: acme/webshop/dev (claude, until ${momentText(stored().expires_at)}), acme/webshop/prod (ci, ended)`
    )
    const { type, ...rest } = JSON.parse((await place.home.coffer(["whoami", "--json"], { cwd: elsewhere })).stdout)
    assert.strictEqual(type, "user")
    assert.notProperty(rest, "delegation")
    const alone = { SERVICE_NON_INTERACTIVE: "1" }
    assert.match(
      await whoami({ cwd: elsewhere, env: alone }),
      /names no environment, .* name one, or set SERVICE_API_KEY/
    )
    assert.match(
      await whoami({ env: { ...alone, SERVICE_ENV: "prod" } }),
      /delegation ci for acme\/webshop\/prod has ended/
    )
    assert.match(await prints("acl", "explain", "--email", "ada@example.com"), /\nsigned in by delegation claude\n$/)
    const terminal = Terminal.coffer(place.home, "whoami")
    await terminal.sees("acme/webshop/prod (ci, ended)")
    assert.strictEqual(await terminal.ended(), 0)

    const token = stored().token
    rmSync(file())
    assert.match(await whoami({ env: alone }), /no delegation is stored for acme\/webshop\/dev/)
    const storing = (input: string) => place.home.coffer(["delegate", "store"], { input })
    for (const wrong of ["", place.home.token, token.slice(1)]) {
      assert.match((await storing(wrong)).stderr, /^coffer: that is no delegation/)
    }
    const { stderr, stdout } = await storing(`${token}\n`)
    assert.match(`${stderr}${stdout}`, /take the delegation claude in acme\/webshop\/dev until 20[-\d]+ [\d:]+ UTC\n$/)
    assert.strictEqual(statSync(file()).mode & 0o777, 0o600)
    assert.match(await whoami({ env: alone }), /^delegation\s+claude$/m)
    const prompt = Terminal.coffer(place.home, "delegate", "store")
    await prompt.sees("Token of the delegation: ")
    prompt.type(`${token}\r`)
    assert.strictEqual(await prompt.ended(), 0)
    assert.notInclude(prompt.screen, token)
    for (const name of ["claude", "ci"]) await ok("delegate", "revoke", name)
    assert.match((await storing(token)).stderr, /^coffer: this delegation is unknown, has ended or was revoked/)
  })

  it("loses no delegation where several are made at the same time", async () => {
    const envs = ["dev", "staging", "prod"]
    await Promise.all(envs.map((env) => ok("delegate", "--for", env, "--place", `acme/webshop/${env}`)))
    assert.deepStrictEqual(await alive(), envs.toSorted())
    for (const env of envs) await ok("secret", "list", "--env", env, "--non-interactive")
    assert.lengthOf(readdirSync(folder()), 3)
    await Promise.all(envs.map((env) => ok("delegate", "revoke", env)))
    assert.deepStrictEqual([await alive(), readdirSync(folder()).length], [[], 3])
    await Promise.all(envs.map((env) => ok("delegate", "revoke", env)))
    assert.deepStrictEqual(readdirSync(folder()), [])
  })

  it("makes no delegation whose token cannot be stored, and revokes one whose storing fails after it was made", async () => {
    rmSync(join(config(), "delegations"), { recursive: true })
    chmodSync(config(), 0o500)
    // No mode of a folder stops the superuser of the system.
    if (process.getuid?.() === 0) writeFileSync(join(config(), "delegations"), "")
    const before = await refused("delegate", "--for", "early", "--place", "acme/webshop/dev")
    chmodSync(config(), 0o700)
    assert.match(before.stderr, /acme\.webshop\.dev cannot be written: /)
    assert.notInclude(before.stderr, "revoked")
    rmSync(join(config(), "delegations"), { force: true })
    mkdirSync(join(file(), "in the way"), { recursive: true })
    const after = await refused("delegate", "--for", "late", "--place", "acme/webshop/dev", "--json")
    assert.match(after.stderr, /acme\.webshop\.dev cannot be written: .*; the delegation was revoked again"\}\}\n$/)
    const { data } = await place.server.call("GET", "/api/orgs/acme/audit-logs?limit=2", { token: place.home.token })
    assert.deepStrictEqual(
      data.map(({ action, metadata }: { readonly action: string; readonly metadata: { readonly name: string } }) => [
        action,
        metadata.name
      ]),
      [
        ["delegation.revoke", "late"],
        ["delegation.create", "late"]
      ]
    )
    assert.deepStrictEqual([await alive(), readdirSync(folder())], [[], ["acme.webshop.dev"]])
  })
})

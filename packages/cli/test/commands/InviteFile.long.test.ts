import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { writeFileSync } from "node:fs"
import { createServer } from "node:http"
import { once } from "node:events"
import { join } from "node:path"
import { runInProcess, type TerminalOptions } from "../support/InProcess.js"
import { workplace } from "../support/Workplace.js"

const place = workplace()

const invite = (
  input: string,
  more: ReadonlyArray<string> = [],
  env = place.home.environment,
  options: TerminalOptions = {}
) => runInProcess(["member", "invite", "--file", "-", "--org", "acme", ...more], env, { input, ...options })

const members = Effect.promise(
  async () => (await place.prints("member", "list", "--json")).match(/[a-z0-9]+@example\.com/g) ?? []
)

const people = `email,role,rules
grace@example.com,developer,"webshop/{dev,staging}:write webshop/prod:read"
linus@example.com,,
`

describe("inviting the people of a file", () => {
  it.live("names all lines with mistakes, and changes nothing", () =>
    Effect.gen(function* () {
      const before = yield* members
      const { code, stderr, stdout } = yield* invite(`${people}nobody,,\ngrace@example.com,king,webshop:read\n`)
      assert.deepStrictEqual([code, stdout], [1, ""])
      assert.deepStrictEqual(stderr.split("\n"), [
        "coffer: standard input, line 4: the e-mail address must be one such as ada@example.com",
        "coffer: standard input, line 5: this person is on line 2 too",
        "coffer: standard input, line 5: the role must be one of owner, admin, developer, member",
        "coffer: standard input, line 5: rule 1 must be PROJECT/ENVIRONMENT:PERMISSION, such as webshop/{dev,staging}:write",
        "coffer: standard input has 4 mistakes, so nothing was written; correct them and try again",
        ""
      ])
      const large = yield* invite(`email\n${"x".repeat(300_000)}`)
      assert.match(large.stderr, /larger than 256 KB/)
      assert.deepStrictEqual(yield* members, before)
    })
  )

  it.live("shows what it would do, does it once, and says who is a member already", () =>
    Effect.gen(function* () {
      const before = yield* members
      const dry = yield* invite(people, ["--dry-run"])
      assert.match(
        dry.stdout,
        /^grace@example\.com\twould be invited\tdeveloper\twebshop\/\{dev,staging\}:write webshop\/prod:read\n/
      )
      assert.strictEqual(
        dry.stderr,
        "coffer: acme: would be 2 invited, 0 members already, 2 rules granted; nothing was changed\n"
      )
      assert.deepStrictEqual(yield* members, before)

      const done = yield* invite(people, [], place.home.environment, { isTerminal: true, width: 200 })
      assert.strictEqual(done.code, 0, done.stderr)
      assert.match(done.stderr, /1 of 2: linus@example\.com/)
      assert.match(done.stdout, /linus@example\.com +invited +member/)
      const rules = yield* Effect.promise(() => place.prints("acl", "list"))
      assert.match(rules, /\tgrace@example\.com\twebshop\t\{dev,staging\}\twrite\t/)

      const again = JSON.parse((yield* invite(people.replace("prod:read", "prod:write"), ["--json"])).stdout)
      assert.deepStrictEqual(again, {
        dry_run: false,
        data: [
          {
            ...{ line: 2, email: "grace@example.com", role: "developer", change: "member" },
            rules: [{ rule: "webshop/prod:write", change: "changed" }]
          },
          { line: 3, email: "linus@example.com", role: "member", change: "member", rules: [] }
        ]
      })
    })
  )

  it.live("says after a failure in the middle who was invited, and the same command continues", () =>
    Effect.gen(function* () {
      let isBroken = true
      const server = createServer((request, response) => {
        void (async () => {
          const chunks: Array<Uint8Array> = []
          for await (const chunk of request) chunks.push(chunk)
          const body = Buffer.concat(chunks).toString()
          if (isBroken && body.includes("second@")) {
            response.writeHead(403, { "content-type": "application/json" })
            return response.end('{"error":{"code":"FORBIDDEN","message":"stopped by the test"}}')
          }
          const { authorization = "" } = request.headers
          const answer = await fetch(`${place.server.url}${request.url ?? ""}`, {
            method: request.method ?? "GET",
            headers: { authorization, "content-type": "application/json" },
            ...(body !== "" && { body })
          })
          response.writeHead(answer.status, { "content-type": answer.headers.get("content-type") ?? "" })
          return response.end(await answer.text())
        })()
      }).listen(0, "127.0.0.1")
      yield* Effect.promise(() => once(server, "listening"))
      yield* Effect.addFinalizer(() => Effect.sync(() => server.close()))
      const address = server.address()
      const port = typeof address === "object" ? address?.port : 0
      const env = { ...place.home.environment, SERVICE_SERVER_URL: `http://127.0.0.1:${port}` }
      const token = place.home.token
      writeFileSync(place.home.session, JSON.stringify({ [place.server.url]: token, [env.SERVICE_SERVER_URL]: token }))
      const file = "email\nfirst@example.com\nsecond@example.com\nthird@example.com\n"
      const stopped = yield* invite(file, [], env)
      assert.deepStrictEqual([stopped.code, stopped.stdout], [1, "first@example.com\tinvited\tmember\t\n"])
      assert.match(
        stopped.stderr,
        /1 invited, 0 members already, 0 rules granted; stopped at line 3 \(second@example\.com\): the same command again continues there\ncoffer: stopped by the test/
      )
      isBroken = false
      const rest = yield* invite(file, [], env)
      assert.strictEqual(rest.code, 0)
      assert.match(rest.stderr, /2 invited, 1 member already/)
    }).pipe(Effect.scoped)
  )

  it.live("asks for the right before it reads the file", () =>
    Effect.gen(function* () {
      const grace = yield* Effect.promise(() => place.server.login("grace@example.com"))
      yield* Effect.addFinalizer(() => Effect.sync(() => grace.remove()))
      const missing = join(grace.folder, "no-such-file")
      const argv = ["member", "invite", "--org", "acme", "--file", missing]
      const { code, stderr } = yield* runInProcess(argv, grace.environment)
      assert.strictEqual(code, 1)
      assert.match(stderr, /^coffer: to invite people to acme, one needs the role admin; ask an administrator/)
    }).pipe(Effect.scoped)
  )
})

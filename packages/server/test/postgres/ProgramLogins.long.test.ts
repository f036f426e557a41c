import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { freshDatabase } from "../support/postgres/Databases.js"
import { Program } from "../support/Program.js"
import {
  beginDevice,
  codeOf,
  fromLog,
  loopbackLogin,
  nextOf,
  PersonsBrowser,
  tokenFor
} from "../support/ProgramLogins.js"

const start = (url: string) =>
  Effect.acquireRelease(
    Effect.promise(() => Program.start({ SERVICE_DATABASE_URL: url, SERVICE_PUBLIC_URL: "http://127.0.0.1:7100" })),
    (program) => Effect.promise(() => program.remove())
  )

describe("the login of a program with two servers on one database", () => {
  it.live("goes on at either of them, step by step, and gives one session", () =>
    Effect.gen(function* () {
      const { url } = yield* freshDatabase()
      const [one, other] = yield* Effect.all([start(url), start(url)], { concurrency: 2 })
      /** A browser whose steps go to one server after the other, as a balancer sends them. */
      const turning = () => {
        const reader = new PersonsBrowser(one)
        let steps = 0
        const open = reader.open.bind(reader)
        reader.open = (path, init) => open(new URL(path, steps++ % 2 === 0 ? one.url : other.url).href, init)
        return reader
      }
      yield* Effect.promise(async () => {
        const { device_code, user_code } = await beginDevice(one)
        assert.strictEqual(codeOf(await tokenFor(other, { device_code })), "AUTHORIZATION_PENDING")
        assert.strictEqual(codeOf(await tokenFor(one, { device_code })), "SLOW_DOWN")
        const reader = turning()
        const sent = await reader.submit(await reader.open("/device"), { code: user_code })
        assert.strictEqual(sent.status, 303, sent.text)
        // The second step of the login asks for the mail.
        const question = await reader.logIn(await reader.open("/login?again"), fromLog(other))
        assert.include(question.text, "build-box")
        assert.include((await reader.submit(question, { answer: "yes" })).text, "close this window")
        const answers = await Promise.all([one, other, one, other].map((server) => tokenFor(server, { device_code })))
        assert.deepStrictEqual(answers.map(({ status }) => status).sort(), [200, 401, 401, 401])

        const { path, verifier } = loopbackLogin()
        const second = turning()
        const asked = await second.logIn(await second.open(path), fromLog(other))
        const code = nextOf(await second.submit(asked, { answer: "yes" }))?.searchParams.get("code") ?? ""
        const exchanged = await Promise.all(
          [one, other, one, other].map((server) => tokenFor(server, { code, verifier }))
        )
        assert.deepStrictEqual(exchanged.map(({ status }) => status).sort(), [200, 401, 401, 401])
      })
    }).pipe(Effect.scoped)
  )
})

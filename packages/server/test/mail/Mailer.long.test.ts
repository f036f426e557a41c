import { Email, OrgName } from "@coffer/domain/base/Names"
import { assert, describe, it } from "@effect/vitest"
import type { Settings } from "@coffer/server/base/Config"
import type { SmtpSettings } from "@coffer/server/base/config/MailSettings"
import { ServerConfig, loadConfig } from "@coffer/server/base/Config"
import { type Invitation, Mailer, type Notice } from "@coffer/server/base/mail/Mailer"
import { transportOptions } from "@coffer/server/base/mail/SmtpSender"
import {
  Clock,
  Deferred,
  Duration,
  Effect,
  Exit,
  Layer,
  Logger,
  LogLevel,
  Queue,
  Redacted,
  Schedule,
  Schema,
  Scope,
  TestContext
} from "effect"
import { vi } from "vitest"
import { mailServer, refusal, silentServer } from "./Servers.js"

const email = Schema.decodeSync(Email)
const ada = email("ada@example.com")
const code = Redacted.make("042137")
const secrets = /042137|ada|hunter2/

const smtp = (port: number): SmtpSettings => ({
  _tag: "Smtp",
  host: "127.0.0.1",
  port,
  username: null,
  password: null,
  from: { name: "Coffer", address: email("coffer@example.com") },
  requireTls: false,
  secure: false,
  ehloName: "coffer.example.com"
})

/** A mailer, what it logged, and the scope that it ends with. */
const makeMailer = (mail: Settings["mail"], level: LogLevel.LogLevel = LogLevel.Info) =>
  Effect.gen(function* () {
    const logged: Array<string> = []
    const logger = Logger.replace(
      Logger.defaultLogger,
      Logger.map(Logger.jsonLogger, (line) => {
        logged.push(line)
      })
    )
    const settings = yield* loadConfig({ SERVICE_MASTER_KEY: "0".repeat(64), SMTP_HOST: "log" })
    const scope = yield* Scope.make()
    yield* Effect.addFinalizer(() => Scope.close(scope, Exit.void))
    const context = yield* Mailer.Default.pipe(
      Layer.provide(Layer.succeed(ServerConfig, { ...settings, mail })),
      Layer.provide(Layer.merge(logger, Logger.minimumLogLevel(level))),
      Layer.buildWithScope(scope)
    )
    const mailer = yield* Effect.provide(Mailer, context)
    const quiet = Effect.provide(Layer.merge(logger, Logger.minimumLogLevel(level)))
    return {
      logged,
      close: Scope.close(scope, Exit.void),
      send: (to: Email, code: Redacted.Redacted) => quiet(mailer.sendLoginCode(to, code)),
      invite: (invitation: Invitation) => quiet(mailer.sendInvitation(invitation)),
      notify: (notice: Notice) => quiet(mailer.sendNotice(notice))
    }
  })

const timed = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.map(Effect.timed(effect), ([duration]) => Duration.toMillis(duration))

/** Waits until something was logged. */
const logs = (logged: ReadonlyArray<string>, count = 1) =>
  Effect.suspend(() => (logged.length >= count ? Effect.void : Effect.fail("nothing logged"))).pipe(
    Effect.retry(Schedule.spaced("10 millis")),
    Effect.timeout("2 minutes"),
    Effect.orDie
  )

describe("the mailer in dev mode", () => {
  for (const level of [LogLevel.Debug, LogLevel.Error, LogLevel.None]) {
    it.scopedLive(`prints one line with the code on stderr at the log level ${level.label}`, () =>
      Effect.gen(function* () {
        const { logged, send } = yield* makeMailer({ _tag: "Log" }, level)
        const printed: Array<unknown> = []
        const spy = vi.spyOn(process.stderr, "write").mockImplementation((chunk) => printed.push(chunk) > 0)
        yield* Effect.ensuring(
          send(ada, code),
          Effect.sync(() => spy.mockRestore())
        )
        assert.deepStrictEqual(printed, ["login code for ada@example.com: 042137\n"])
        assert.deepStrictEqual(logged, [])
      })
    )
  }
})

describe("the mailer", { concurrent: true }, () => {
  it.scopedLive("mails the code to one person, in plain text", () =>
    Effect.gen(function* () {
      const server = yield* mailServer()
      const { logged, send } = yield* makeMailer(smtp(server.port))
      yield* send(ada, code)
      const mail = yield* Queue.take(server.received)
      assert.deepStrictEqual([mail.from, mail.to], ["coffer@example.com", ["ada@example.com"]])
      assert.match(mail.text, /^From: "?Coffer"? <coffer@example.com>\r$/m)
      assert.match(mail.text, /^To: ada@example.com\r$/m)
      assert.match(mail.text, /^Subject: Your Coffer login code\r$/m)
      assert.match(mail.text, /^Auto-Submitted: auto-generated\r$/m)
      assert.match(mail.text, /^Content-Type: text\/plain/m)
      assert.include(mail.text, "Your login code is 042137\r\n")
      assert.include(mail.text, "good for 10 minutes")
      assert.notInclude(mail.text.slice(0, mail.text.indexOf("\r\n\r\n")), "042137")
      assert.deepStrictEqual(logged, [])
    })
  )

  it.scopedLive("logs in when it has a user and a password", () =>
    Effect.gen(function* () {
      const server = yield* mailServer({
        authOptional: false,
        allowInsecureAuth: true,
        onAuth: ({ password, username }, _session, callback) =>
          username === "coffer" && password === "hunter2" ? callback(null, { user: username }) : callback(refusal(535))
      })
      const { send } = yield* makeMailer({
        ...smtp(server.port),
        username: "coffer",
        password: Redacted.make("hunter2")
      })
      yield* send(ada, code)
      assert.strictEqual((yield* Queue.take(server.received)).user, "coffer")
    })
  )

  it.scopedLive("logs a wrong password by its code alone", () =>
    Effect.gen(function* () {
      const server = yield* mailServer({
        authOptional: false,
        allowInsecureAuth: true,
        onAuth: (_auth, _session, callback) => callback(refusal(535))
      })
      const { logged, send } = yield* makeMailer({
        ...smtp(server.port),
        username: "coffer",
        password: Redacted.make("hunter2")
      })
      yield* send(ada, code)
      yield* logs(logged)
      assert.include(logged[0], '"smtp_error":"EAUTH"')
      assert.include(logged[0], '"smtp_response":535')
      assert.notMatch(logged.join(), secrets)
    })
  )

  it.scopedLive("tries once when the server refuses for good, and logs no code and no address", () =>
    Effect.gen(function* () {
      const server = yield* mailServer({}, [550, 550, 550])
      const { logged, send } = yield* makeMailer(smtp(server.port))
      yield* send(ada, code)
      yield* logs(logged)
      assert.strictEqual(yield* Queue.size(server.connected), 1)
      assert.strictEqual(logged.length, 1)
      assert.include(logged[0], '"logLevel":"ERROR"')
      assert.include(logged[0], '"smtp_response":550')
      assert.notMatch(logged.join(), secrets)
    })
  )

  it.scopedLive("tries three times when the server is busy", () =>
    Effect.gen(function* () {
      const server = yield* mailServer({}, [451, 451])
      const { logged, send } = yield* makeMailer(smtp(server.port))
      yield* send(ada, code)
      assert.include((yield* Queue.take(server.received)).text, "042137")
      assert.strictEqual(yield* Queue.size(server.connected), 3)
      assert.deepStrictEqual(logged, [])
    })
  )

  it.scopedLive("gives up after three times, and goes on with the next mail", () =>
    Effect.gen(function* () {
      const server = yield* mailServer({}, [451, 451, 451])
      const { logged, send } = yield* makeMailer(smtp(server.port))
      yield* send(ada, code)
      yield* logs(logged)
      assert.strictEqual(yield* Queue.size(server.connected), 3)
      yield* send(email("bob@example.com"), code)
      assert.deepStrictEqual((yield* Queue.take(server.received)).to, ["bob@example.com"])
    })
  )

  it.scopedLive("says which notices can be queued again: not those that were refused for good", () =>
    Effect.gen(function* () {
      const server = yield* mailServer({}, [550, 451, 451, 451])
      const { notify } = yield* makeMailer(smtp(server.port))
      const lost = yield* Queue.unbounded<string>()
      for (const to of ["refused@example.com", "busy@example.com", "taken@example.com"]) {
        yield* notify({ to: email(to), subject: "Due", text: "Due", lost: Queue.offer(lost, to) })
      }
      assert.deepStrictEqual((yield* Queue.take(server.received)).to, ["taken@example.com"])
      assert.deepStrictEqual([...(yield* Queue.takeAll(lost))], ["busy@example.com"])
    })
  )

  it.scopedLive("logs that no server is there", () =>
    Effect.gen(function* () {
      const { close, port } = yield* silentServer
      close()
      const { logged, send } = yield* makeMailer(smtp(port))
      yield* send(ada, code)
      yield* logs(logged)
      assert.include(logged[0], '"smtp_error":"ECONNREFUSED"')
      assert.notMatch(logged.join(), secrets)
    })
  )

  it.scopedLive("returns at once when the server hangs, drops what its queue cannot hold, and ends in 5 seconds", () =>
    Effect.gen(function* () {
      const { port } = yield* silentServer
      const { close, logged, send } = yield* makeMailer(smtp(port))
      for (let mail = 0; mail < 10; mail++) {
        yield* send(ada, code)
      }
      assert.isEmpty(logged)
      yield* Effect.replicateEffect(send(ada, code), 1_000, { discard: true })
      assert.include(logged[0], "too many mails wait")
      const time = yield* timed(close)
      assert.isAbove(time, 4_500)
      // Without an end of its own it would take until each of the mails is given up: minutes.
      assert.isBelow(time, 60_000)
      assert.include(logged.at(-1), "not sent before the shutdown")
      assert.notMatch(logged.join(), secrets)
    })
  )

  it.scopedLive("mails what is queued before it ends", () =>
    Effect.gen(function* () {
      const server = yield* mailServer()
      const { close, send } = yield* makeMailer(smtp(server.port))
      for (let mail = 0; mail < 12; mail++) {
        yield* send(email(`user${mail}@example.com`), code)
      }
      // The 5 seconds that the end may take never pass: a slow machine needs longer for 12 mails.
      yield* Effect.withClock(close, yield* Effect.provide(Effect.clock, TestContext.TestContext))
      const mails = yield* Queue.takeAll(server.received)
      assert.strictEqual(new Set([...mails].flatMap(({ to }) => to)).size, 12)
    })
  )
})

describe("the way to the mail server", { concurrent: true }, () => {
  it.scopedLive("gives no code to a server that hides STARTTLS where TLS is required", () =>
    Effect.gen(function* () {
      const commands = yield* Deferred.make<string>()
      const server = yield* mailServer({
        onMailFrom: (address, _session, callback) => {
          Deferred.unsafeDone(commands, Effect.succeed(address.address))
          callback()
        }
      })
      const { logged, send } = yield* makeMailer({ ...smtp(server.port), requireTls: true })
      yield* send(ada, code)
      yield* logs(logged)
      assert.isFalse(yield* Deferred.isDone(commands))
      assert.strictEqual(yield* Queue.size(server.received), 0)
    })
  )

  it.scopedLive("refuses a certificate that nobody vouches for where TLS is required", () =>
    Effect.gen(function* () {
      const server = yield* mailServer({ disabledCommands: [] })
      const { logged, send } = yield* makeMailer({ ...smtp(server.port), requireTls: true })
      yield* send(ada, code)
      yield* logs(logged)
      assert.include(logged[0], "CERT")
      assert.strictEqual(yield* Queue.size(server.received), 0)
    })
  )

  it.scopedLive("uses STARTTLS when it is offered where TLS is not required", () =>
    Effect.gen(function* () {
      const server = yield* mailServer({ disabledCommands: [] })
      const { send } = yield* makeMailer(smtp(server.port))
      yield* send(ada, code)
      assert.isTrue((yield* Queue.take(server.received)).secure)
    })
  )

  it("is TLS from the start or STARTTLS that must succeed, with the certificate checked", () => {
    for (const secure of [true, false]) {
      const options = transportOptions({ ...smtp(25), host: "mail.example.com", requireTls: true, secure })
      assert.strictEqual(options.secure, secure)
      assert.isTrue(options.requireTLS)
      assert.isUndefined(options.tls)
      assert.isUndefined(options.opportunisticTLS)
      assert.isUndefined(options.ignoreTLS)
    }
    assert.isUndefined(transportOptions({ ...smtp(465), secure: true }).tls)
  })

  it("has an end for every wait, and reads no files or addresses into a mail", () => {
    const options = transportOptions(smtp(25))
    assert.deepInclude(options, {
      connectionTimeout: 10_000,
      greetingTimeout: 10_000,
      socketTimeout: 20_000,
      disableFileAccess: true,
      disableUrlAccess: true
    })
    assert.isUndefined(options.auth)
  })
})

describe("a code that has expired in the queue", () => {
  it.scopedLive("is not mailed any more", () =>
    Effect.gen(function* () {
      const server = yield* mailServer()
      const { logged, send } = yield* makeMailer(smtp(server.port))
      const clock = yield* Clock.clockWith(Effect.succeed)
      const earlier: Clock.Clock = {
        ...clock,
        currentTimeMillis: Effect.map(clock.currentTimeMillis, (now) => now - 11 * 60_000)
      }
      yield* Effect.withClock(send(ada, code), earlier)
      yield* logs(logged)
      assert.include(logged[0], "it expired")
      assert.strictEqual(yield* Queue.size(server.connected), 0)
    })
  )
})

describe("an invitation", () => {
  const invitation: Invitation = { to: ada, inviter: "grace@example.com", org: OrgName.make("acme"), role: "developer" }

  it.scopedLive("is mailed in plain text: who invites, to what, and how to begin", () =>
    Effect.gen(function* () {
      const server = yield* mailServer()
      const { invite } = yield* makeMailer(smtp(server.port))
      yield* invite(invitation)
      const mail = yield* Queue.take(server.received)
      assert.deepStrictEqual(mail.to, ["ada@example.com"])
      assert.match(mail.text, /^Subject: You are invited to acme on Coffer\r$/m)
      assert.match(mail.text, /^Content-Type: text\/plain/m)
      for (const part of ["grace@example.com invites you", "acme", "developer", "coffer login --server-url"]) {
        assert.include(mail.text.replace(/=\r\n/g, ""), part)
      }
    })
  )

  it.scopedLive("is logged without the addresses when it is not taken, and holds nobody up", () =>
    Effect.gen(function* () {
      const server = yield* mailServer({}, [550])
      const { invite, logged } = yield* makeMailer(smtp(server.port))
      yield* invite(invitation)
      yield* logs(logged)
      assert.include(logged[0], "an invitation was not mailed")
      assert.notMatch(logged.join(), /ada|grace/)
    })
  )

  it.scopedLive("is a line in the log in dev mode", () =>
    Effect.gen(function* () {
      const { invite, logged } = yield* makeMailer({ _tag: "Log" })
      yield* invite(invitation)
      assert.lengthOf(logged, 1)
      assert.include(logged[0], "invitation for ada@example.com: grace@example.com invites to acme as developer")
    })
  )
})

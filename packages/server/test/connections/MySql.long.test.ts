import { createServer, type Socket } from "node:net"
import type { Target } from "@coffer/server/secrets/connections/Kind"
import { kinds } from "@coffer/server/secrets/connections/DatabaseAddresses"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { hasMariaDb, renewedMariaDb } from "../support/mysql/RenewedMariaDb.js"
import { renewerPassword } from "../support/postgres/RenewedDatabase.js"

const toRenewer = { user: "renewer", password: Redacted.make(renewerPassword) }

const at = (port: number, changes: Partial<Target> = {}): Target => ({
  ...{ host: "localhost", address: "127.0.0.1", port, database: "shop_db", tls: "verify-full", ca: null },
  login: toRenewer,
  ...changes
})

const problemOf = (target: Target) =>
  Effect.match(kinds.mysql.abilities(target), { onSuccess: () => null, onFailure: ({ reason }) => reason })

describe.skipIf(!hasMariaDb)("a connection to MariaDB (needs mariadbd)", () => {
  it.scopedLive("says what its user may do", () =>
    Effect.gen(function* () {
      const { ca, port, ...database } = yield* renewedMariaDb.pipe(
        Effect.map((made) => ({ ca: made.ca, port: made.port, query: (text: string) => made.query(text) }))
      )
      const tested = Effect.map(kinds.mysql.abilities(at(port, { ca })), ({ may_change, may_create, version }) => {
        assert.match(version, /MariaDB/)
        return [may_create, may_change]
      })
      assert.deepStrictEqual(yield* tested, [true, true])
      for (const [statement, expected] of [
        ["REVOKE CONNECTION ADMIN ON *.* FROM renewer@'%'", [false, true]],
        ["REVOKE SELECT ON mysql.user FROM renewer@'%'", [false, false]],
        ["GRANT ALL ON *.* TO renewer@'%'", [true, true]]
      ] as const) {
        yield* Effect.promise(() => database.query(statement))
        assert.deepStrictEqual(yield* tested, [...expected], statement)
      }
      assert.strictEqual(yield* problemOf(at(port, { ca, database: "elsewhere" })), "no database")
      const wrong = { ...toRenewer, password: Redacted.make("wrong") }
      assert.strictEqual(yield* problemOf(at(port, { ca, login: wrong })), "login refused")
    })
  )

  it.scopedLive(
    "refuses a certificate that nobody trusts, and one of another host or address, before the password",
    () =>
      Effect.gen(function* () {
        const { ca, port } = yield* renewedMariaDb
        const problem = (changes: Partial<Target>) => problemOf(at(port, changes))
        assert.strictEqual(yield* problem({}), "certificate")
        assert.strictEqual(yield* problem({ tls: "verify-ca" }), "certificate")
        assert.strictEqual(yield* problem({ ca, host: "db.example.com" }), "certificate")
        // The certificate is of 127.0.0.1, and of localhost.
        assert.strictEqual(yield* problem({ ca, host: "127.0.0.2" }), "certificate")
        assert.isNull(yield* problem({ ca, host: "127.0.0.1" }))
        assert.isNull(yield* problem({ ca, host: "db.example.com", tls: "verify-ca" }))
        assert.isNull(yield* problem({ host: "db.example.com", tls: "require" }))
      })
  )
})

/** A server that does as the test says. Returns what it was sent. */
const lyingServer = (speak: (socket: Socket) => void) =>
  Effect.map(
    Effect.acquireRelease(
      Effect.promise(
        () =>
          new Promise<{ readonly port: number; readonly sent: Array<Buffer>; readonly close: () => void }>(
            (resolve) => {
              const sent: Array<Buffer> = []
              const sockets = new Set<Socket>()
              const server = createServer((socket) => {
                sockets.add(socket)
                socket.on("error", () => undefined)
                socket.on("data", (data: Buffer) => void sent.push(data))
                speak(socket)
              }).listen(0, "127.0.0.1", () => {
                const address = server.address()
                const port = address !== null && typeof address === "object" ? address.port : 0
                resolve({
                  port,
                  sent,
                  close: () => {
                    for (const socket of sockets) socket.destroy()
                    server.close()
                  }
                })
              })
            }
          )
      ),
      ({ close }) => Effect.sync(close)
    ),
    ({ port, sent }) => ({ port, text: () => Buffer.concat(sent).toString("latin1") })
  )

const packet = (sequence: number, payload: Buffer): Buffer => {
  const head = Buffer.alloc(4)
  head.writeUIntLE(payload.length, 0, 3)
  head[3] = sequence
  return Buffer.concat([head, payload])
}

/** A greeting of the protocol, with or without TLS. */
const greeting = (hasTls: boolean): Buffer =>
  packet(
    0,
    Buffer.concat([
      ...[Buffer.from([10]), Buffer.from("8.0.40\0"), Buffer.from([1, 0, 0, 0]), Buffer.from("12345678\0")],
      ...[Buffer.from([0xff, hasTls ? 0xff : 0xf7, 45, 2, 0, 0xff, 0xc1, 21]), Buffer.alloc(10)],
      ...[Buffer.from("123456789012\0"), Buffer.from("mysql_native_password\0")]
    ])
  )

const clearPassword = packet(2, Buffer.concat([Buffer.from([0xfe]), Buffer.from("mysql_clear_password\0")]))
const sendFile = packet(1, Buffer.from("\xfb/etc/passwd", "latin1"))

describe("a dishonest server", () => {
  const lies: Readonly<Record<string, readonly [(socket: Socket) => void, string]>> = {
    "says nothing": [() => undefined, "timeout"],
    "hangs up": [(socket) => void socket.end(), "connection"],
    "speaks another protocol": [(socket) => void socket.write("HTTP/1.1 200 OK\r\n\r\n"), "timeout"],
    "has no TLS": [(socket) => void socket.write(greeting(false)), "certificate"],
    "asks for the password before TLS": [
      (socket) => void socket.write(Buffer.concat([greeting(true), clearPassword])),
      "certificate"
    ],
    "asks for a file before TLS": [
      (socket) => void socket.write(Buffer.concat([greeting(true), sendFile])),
      "certificate"
    ],
    "never begins TLS": [(socket) => void socket.write(greeting(true)), "timeout"],
    "sends without end": [
      (socket) => {
        const more = (): unknown => socket.writable && socket.write(Buffer.alloc(1 << 20, 1), () => more())
        socket.write(Buffer.from([0xff, 0xff, 0xff, 0]), more)
      },
      "connection"
    ]
  }
  it.scopedLive.each(Object.entries(lies))("%s: the login ends in time, without the password", ([, [speak, reason]]) =>
    Effect.gen(function* () {
      const { port, text } = yield* lyingServer(speak)
      const begun = Date.now()
      const problem = yield* problemOf(at(port))
      assert.isBelow(Date.now() - begun, 14_000)
      assert.notInclude(text(), renewerPassword)
      if (reason === "certificate") assert.include(["certificate", "login refused", "connection"], problem)
      else assert.strictEqual(problem, reason)
    })
  )
})

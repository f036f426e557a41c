import { execFileSync } from "node:child_process"
import { chmodSync, copyFileSync, existsSync, writeFileSync } from "node:fs"
import { Agent, request } from "node:https"
import { TLSSocket } from "node:tls"
import { loadConfig, ServerConfig } from "@coffer/server/base/Config"
import { readCertificate } from "@coffer/server/http/Certificate"
import { InProcessLive } from "@coffer/server/http/InProcess"
import { NodeHttpServerLive } from "@coffer/server/http/NodeServer"
import { HttpServer, HttpServerResponse } from "@effect/platform"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, TestClock } from "effect"
import { certificateFolder, hasOpenssl, installCertificate, makeCertificate } from "../support/Certificates.js"
import { logged } from "../support/Logged.js"

const day = 86_400_000

const settingsFor = ({ certFile, keyFile }: { readonly certFile: string; readonly keyFile: string }) =>
  loadConfig({
    SERVICE_MASTER_KEY: "0".repeat(64),
    SMTP_HOST: "log",
    SERVICE_PORT: "0",
    SERVICE_TLS_CERT_FILE: certFile,
    SERVICE_TLS_KEY_FILE: keyFile
  })

interface Response {
  readonly status: number | undefined
  readonly body: string
  readonly fingerprint: string
  readonly socket: TLSSocket
}

const get = (port: number, ca: ReadonlyArray<string>, agent: Agent | false): Promise<Response> =>
  new Promise((resolve, reject) => {
    request({ port, host: "127.0.0.1", path: "/", ca: [...ca], agent }, (response) => {
      const { socket } = response
      if (!(socket instanceof TLSSocket)) throw new Error("the connection is not encrypted")
      const fingerprint = socket.getPeerX509Certificate()?.fingerprint256 ?? ""
      let body = ""
      response.setEncoding("utf8").on("data", (text: string) => (body += text))
      response.on("end", () => {
        resolve({ status: response.statusCode, body, fingerprint, socket })
      })
      response.on("error", reject)
    })
      .on("error", reject)
      .end()
  })

describe.skipIf(!hasOpenssl)("the server's certificate (needs openssl)", () => {
  it.scoped("is renewed twice under load: no request is lost, and no connection is closed", () =>
    Effect.gen(function* () {
      const log = logged()
      const folder = yield* certificateFolder
      const made = ["first", "second", "third"].map((name) => makeCertificate(folder, name))
      const [first, second, third] = made
      assert(first !== undefined && second !== undefined && third !== undefined)
      // Now, because a certificate is valid from the second in which it was made.
      yield* TestClock.setTime(Date.now())
      const ca = made.map(({ pem }) => pem)
      const settings = yield* settingsFor(first)
      const context = yield* Layer.build(
        NodeHttpServerLive.pipe(
          Layer.provide(Layer.succeed(ServerConfig, settings)),
          Layer.provide(InProcessLive),
          Layer.provideMerge(log.layer)
        )
      )
      const port = yield* Effect.provide(
        HttpServer.addressWith((address) => Effect.succeed(address._tag === "TcpAddress" ? address.port : 0)),
        context
      )
      yield* Effect.provide(HttpServer.serveEffect(HttpServerResponse.text("served")), context)

      const kept = new Agent({ keepAlive: true, maxSockets: 1 })
      const { socket } = yield* Effect.promise(() => get(port, ca, kept))
      const seen = new Map<string, number>()
      let isOver = false
      const load = async (agent: Agent | false) => {
        while (!isOver) {
          const { body, fingerprint, status } = await get(port, ca, agent)
          assert.deepStrictEqual([status, body], [200, "served"])
          seen.set(fingerprint, (seen.get(fingerprint) ?? 0) + 1)
        }
      }
      const agent = new Agent({ keepAlive: true, maxSockets: 3 })
      const loads = Promise.all([load(false), load(false), load(agent), load(agent), load(agent)])
      const waited = (holds: () => boolean) =>
        Effect.promise(async () => {
          const paused = () => new Promise((resolve) => setTimeout(resolve, 5))
          while (!holds()) await Promise.race([paused(), ...(isOver ? [] : [loads])])
        })
      const isServed = (fingerprint: string) => () => (seen.get(fingerprint) ?? 0) >= 5
      const said = (pattern: RegExp) => () => log.lines.some((line) => pattern.test(line))

      yield* waited(isServed(first.fingerprint))
      for (const next of [second, third]) {
        // The renewal is seen between its two steps: a key that does not belong to the certificate is not used.
        copyFileSync(next.certFile, first.certFile)
        log.lines.length = 0
        yield* TestClock.adjust("30 seconds")
        yield* waited(said(/^ERROR the certificate in use stays, .* does not belong to the first certificate/))
        installCertificate(next, first)
        yield* TestClock.adjust("30 seconds")
        yield* waited(said(/^INFO the certificate was replaced: the new one is valid until 20/))
        yield* waited(isServed(next.fingerprint))
      }
      isOver = true
      yield* Effect.promise(() => loads)
      const last = yield* Effect.promise(() => get(port, ca, kept))
      assert.strictEqual(last.body, "served")
      assert.strictEqual(last.socket, socket)
      kept.destroy()
      agent.destroy()

      // A bad pair is reported once, however often it is read.
      chmodSync(first.keyFile, 0o604)
      for (let time = 0; time < 3; time++) {
        yield* TestClock.adjust("30 seconds")
        yield* waited(said(/run chmod o-rwx on it/))
      }
      assert.lengthOf(
        log.lines.filter((line) => line.includes("chmod")),
        1
      )
      assert.strictEqual((yield* Effect.promise(() => get(port, ca, false))).fingerprint, third.fingerprint)
    })
  )

  it.scoped("is refused with a sentence of its own for each mistake", () =>
    Effect.gen(function* () {
      const folder = yield* certificateFolder
      const good = makeCertificate(folder, "good")
      const other = makeCertificate(folder, "other")
      const refusal = (change: Partial<typeof good>) =>
        Effect.gen(function* () {
          const { tls } = yield* settingsFor({ ...good, ...change })
          assert(tls !== null)
          const { message } = yield* Effect.flip(readCertificate(tls))
          assert.notMatch(message, /-----|MI[A-Z]/)
          return message
        })
      const file = (name: string, content: string) => {
        writeFileSync(`${folder}/${name}`, content, { mode: 0o600 })
        return `${folder}/${name}`
      }
      // Later than the certificates that are made below: each is valid from the second in which it is made.
      const now = Date.now() + 60_000
      yield* TestClock.setTime(now)
      const { tls } = yield* settingsFor(good)
      assert(tls !== null)
      assert.strictEqual((yield* readCertificate(tls)).leaf.fingerprint256, good.fingerprint)
      yield* readCertificate({ ...tls, ...makeCertificate(folder, "larger", "secp384r1") })

      const locked = `${folder}/locked.key`
      execFileSync("openssl", ["ec", "-aes256", "-passout", "pass:secret", "-in", good.keyFile, "-out", locked], {
        stdio: "ignore"
      })
      const open = file("open.key", "")
      copyFileSync(good.keyFile, open)
      chmodSync(open, 0o644)
      assert.isTrue(existsSync(locked))
      for (const [change, sentence] of [
        [{ certFile: `${folder}/none` }, "SERVICE_TLS_CERT_FILE must name a file that can be read (ENOENT)"],
        [{ keyFile: folder }, "SERVICE_TLS_KEY_FILE must name a file that can be read (EISDIR)"],
        [
          { keyFile: open },
          "every user of this machine can read the file of SERVICE_TLS_KEY_FILE: run chmod o-rwx on it"
        ],
        [{ certFile: file("empty", "") }, "the file of SERVICE_TLS_CERT_FILE is empty"],
        [{ certFile: good.keyFile }, "the file of SERVICE_TLS_CERT_FILE has no certificate in PEM form"],
        [{ keyFile: file("text", "hunter2") }, "the file of SERVICE_TLS_KEY_FILE has no private key in PEM form"],
        [{ keyFile: locked }, "the private key of SERVICE_TLS_KEY_FILE has a passphrase: store it without one"],
        [
          makeCertificate(folder, "curve", "secp256k1"),
          "the key of SERVICE_TLS_KEY_FILE is of a curve that no client takes: use P-256, P-384 or P-521"
        ],
        [
          { keyFile: other.keyFile },
          "the key of SERVICE_TLS_KEY_FILE does not belong to the first certificate of SERVICE_TLS_CERT_FILE"
        ]
      ] as const) {
        assert.strictEqual(yield* refusal(change), sentence)
      }
      yield* TestClock.setTime(now + 11 * day)
      assert.match(yield* refusal({}), /^the certificate of SERVICE_TLS_CERT_FILE expired at 20\S+Z$/)
      yield* TestClock.setTime(now - day)
      assert.match(yield* refusal({}), /is valid only from 20\S+Z on: check this machine's clock$/)
    })
  )
})

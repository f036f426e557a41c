import { existsSync, mkdtempSync, rmSync } from "node:fs"
import { connect } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import Sqlite from "better-sqlite3"
import { Effect } from "effect"
import { assert, inject } from "vitest"
import { type Ended, ServerProcess } from "../../../client/src/testing/ServerProcess.js"

const bin = fileURLToPath(new URL("../../bin/coffer-server.js", import.meta.url))
/** The same program, each module in a file of its own: for a test that replaces one. */
export const unbundled = fileURLToPath(new URL("../../dist/main.js", import.meta.url))

export const masterKey = "c0ffee".padEnd(64, "0")

/** A warning of the PostgreSQL driver, which will refuse in its next version what it warns of now. */
export const pgWarning = /deprecated and will be removed in pg@/

/** JSON as it came: tests look into it as they expect it to be. */
// eslint-disable-next-line @typescript-eslint/no-explicit-any
export type Json = any

export type Variables = Readonly<Record<string, string | undefined>>

export interface CallOptions {
  readonly token?: string | undefined
  /** Sent as JSON. */
  readonly body?: unknown
  /** Sent as it is, instead of `body`. */
  readonly raw?: string | Uint8Array<ArrayBuffer>
  readonly headers?: Readonly<Record<string, string>>
}

export interface Answer {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  /** The body as JSON; undefined when there is none. */
  readonly body: Json
}

const jsonOf = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Cleanup functions that run when the tests end, however they do. */
const leftovers = new Set<() => void>()

/** Ends the servers that still run, and removes all folders. */
export const cleanUp = (): void => {
  for (const undo of leftovers) undo()
}
process.once("exit", cleanUp)

/** A fresh folder for a server's files, which `cleanUp` removes. */
export const freshFolder = (): string => {
  const folder = mkdtempSync(join(tmpdir(), "coffer-api-"))
  leftovers.add(() => {
    rmSync(folder, { recursive: true, force: true })
  })
  return folder
}

const variablesOf = (variables: Variables): NodeJS.ProcessEnv => ({
  PATH: process.env["PATH"],
  SERVICE_MASTER_KEY: masterKey,
  SMTP_HOST: "log",
  SERVICE_PORT: "0",
  ...variables
})

let clients = 0
/** An address of a client of its own, so that tests that ask for many codes meet no limit for an address. */
const nextClient = (): string => `198.18.${(++clients >> 8) & 255}.${clients & 255}`

/** The databases of the servers' folders, in a project of tests that runs on PostgreSQL. */
const databases = new Map<string, string>()

/** Gives a server a database of the project's engine, unless its settings name one. A folder keeps its database. */
const withDatabase = async (variables: Variables, folder: string): Promise<Variables> => {
  const { SERVICE_DATABASE_URL: url, SERVICE_DB_PATH: path } = variables
  if (inject("postgres") === undefined || url !== undefined || path !== undefined) return variables
  const { copyOfTemplate, serverUrl } = await import("./postgres/Databases.js")
  const name = databases.get(folder) ?? (await Effect.runPromise(copyOfTemplate))
  databases.set(folder, name)
  return {
    SERVICE_WORKERS: process.env["COFFER_WORKERS"],
    ...variables,
    SERVICE_DATABASE_URL: `${serverUrl()}/${name}`
  }
}

/**
 * A kept connection, which the server may close while this process works, loses the next request. With a closed one, the refusal of a
 * large body that is still being sent could be lost.
 */
export const closing = (body: string | Uint8Array | null): { readonly connection?: string } =>
  body === null || body.length <= 65_536 ? { connection: "close" } : {}

/** `coffer-server` as a process of its own, started from the build. */
export class Program {
  readonly #process: ServerProcess
  readonly #variables: Variables
  /** How it ended, once it has. */
  readonly ended: Promise<Ended>
  #port = 0

  private constructor(
    readonly folder: string,
    variables: Variables,
    main = bin,
    words: ReadonlyArray<string> = []
  ) {
    this.#variables = variables
    this.#process = new ServerProcess([process.execPath, main, ...words], { env: variablesOf(variables), cwd: folder })
    this.ended = this.#process.ended
    leftovers.add(() => this.#process.child.kill("SIGKILL"))
  }

  /** Starts a server and waits until it listens. Its files are in `folder`, a fresh one unless given. */
  static async start(
    variables: Variables = {},
    folder = freshFolder(),
    main = bin,
    words: ReadonlyArray<string> = []
  ): Promise<Program> {
    const program = new Program(folder, await withDatabase(variables, folder), main, words)
    const [, port] = await program.said(/listening on https?:\/\/(?:127\.0\.0\.1|\[::1?\]):(\d+)/)
    program.#port = Number(port)
    return program
  }

  /** Starts a server that is to end by itself, and answers how it ended and what it said. */
  static async refused(
    variables: Variables = {},
    folder = freshFolder()
  ): Promise<{ readonly code: number | null; readonly log: string }> {
    const program = new Program(folder, await withDatabase(variables, folder))
    const { code } = await program
      .said(/listening on/)
      .then(
        () => assert.fail("the server started"),
        () => program.ended
      )
      .finally(() => {
        program.signal("SIGKILL")
      })
    return { code, log: program.log }
  }

  get pid(): number {
    return this.#process.child.pid ?? 0
  }

  get port(): number {
    return this.#port
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}`
  }

  /** The path of a file beside the database. */
  file(suffix = ""): string {
    return join(this.folder, `service.db${suffix}`)
  }

  /** Runs a statement on its database, by another connection. */
  async execute(statement: string): Promise<void> {
    const database = databases.get(this.folder)
    if (database === undefined) {
      new Sqlite(this.file()).exec(statement).close()
      return
    }
    const { onServer } = await import("./postgres/Databases.js")
    await Effect.runPromise(onServer(database, (client) => client.query(statement)))
  }

  /** Everything that it has written to standard error. */
  get log(): string {
    return this.#process.err.text
  }

  /** Waits until something is in the log, for the `count`-th time. */
  said(pattern: RegExp, count = 1): Promise<RegExpExecArray> {
    return this.#process.err.said(pattern, count)
  }

  /** Closes the reading end of its standard error, as a log collector that dies. */
  closeLog(): void {
    this.#process.child.stderr?.destroy()
  }

  signal(signal: NodeJS.Signals): void {
    this.#process.child.kill(signal)
  }

  /** Stops it as an operator does, and answers how it ended. */
  async stop(signal: NodeJS.Signals = "SIGTERM"): Promise<Ended> {
    this.signal(signal)
    const ended = await this.ended
    assert.notMatch(this.log, pgWarning)
    return ended
  }

  /** Kills it, sees that what holds of every database holds of the one that it leaves, and removes its folder. */
  async remove(): Promise<void> {
    await this.stop("SIGKILL")
    if (existsSync(this.file())) {
      const { invariants } = await import("./Services.js")
      await Effect.runPromise(invariants(this.file(), this.#variables["SERVICE_MASTER_KEY"] ?? masterKey))
    }
    const database = databases.get(this.folder)
    if (database !== undefined) {
      const { invariantsOnServer } = await import("./postgres/Databases.js")
      await Effect.runPromise(invariantsOnServer(database, this.#variables["SERVICE_MASTER_KEY"] ?? masterKey))
    }
    rmSync(this.folder, { recursive: true, force: true })
  }

  /** One request by `fetch`, with a JSON body when there is one. */
  async call(method: string, path: string, options: CallOptions = {}): Promise<Answer> {
    const { body, headers = {}, raw, token } = options
    const payload = raw ?? (body === undefined ? null : JSON.stringify(body))
    const response = await fetch(this.url + path, {
      method,
      headers: {
        ...closing(payload),
        ...(token !== undefined && { authorization: `Bearer ${token}` }),
        ...(payload !== null && { "content-type": "application/json" }),
        ...(["/api/auth/login", "/api/auth/device"].includes(path) && { "x-real-ip": nextClient() }),
        ...headers
      },
      body: payload,
      redirect: "manual"
    })
    const text = await response.text()
    return { status: response.status, headers: response.headers, text, body: jsonOf(text) }
  }

  /** Asks for a login code and reads it off the log. */
  async codeFor(email: string): Promise<string> {
    const address = email.trim().toLowerCase()
    const line = new RegExp(`^login code for ${address.replace(/[.+]/g, "\\$&")}: (\\d{6})$`, "gm")
    const before = [...this.log.matchAll(line)].length
    const asked = await this.call("POST", "/api/auth/login", { body: { email } })
    assert.strictEqual(asked.status, 200, asked.text)
    const [, code = ""] = await this.said(line, before + 1)
    return code
  }

  async verify(email: string, code: string): Promise<Answer> {
    return this.call("POST", "/api/auth/verify", { body: { email, code } })
  }

  /** Logs a person in; answers the session token. */
  async login(email: string): Promise<string> {
    const answer = await this.verify(email, await this.codeFor(email))
    assert.strictEqual(answer.status, 200, answer.text)
    return answer.body.token
  }

  /** A connection to write to by hand. */
  dial(): Dialogue {
    return new Dialogue(this.#port)
  }

  /** Sends bytes as they are, and answers all that came back until the connection was closed. */
  async exchange(bytes: string | Uint8Array): Promise<RawAnswer> {
    const dialogue = this.dial()
    dialogue.write(bytes)
    await dialogue.closed
    return parseRaw(dialogue.received)
  }
}

export interface RawAnswer {
  readonly status: number
  readonly headers: Headers
  readonly text: string
}

/** A whole HTTP/1.1 answer, as it came over the wire; an interim one (100 Continue) before it is passed over. */
export const parseRaw = (received: string): RawAnswer => {
  const final = received.replace(/^HTTP\/1\.1 1\d\d[^\r]*\r\n(?:[^\r]+\r\n)*\r\n/, "")
  const end = final.indexOf("\r\n\r\n")
  const [line = "", ...fields] = final.slice(0, end === -1 ? undefined : end).split("\r\n")
  const headers = new Headers(
    fields.map((field): [string, string] => [field.slice(0, field.indexOf(":")), field.slice(field.indexOf(":") + 1)])
  )
  const rest = end === -1 ? "" : final.slice(end + 4)
  const text = headers.get("transfer-encoding") === "chunked" ? unchunk(rest) : rest
  return { status: Number(line.split(" ")[1] ?? 0), headers, text }
}

const unchunk = (text: string): string => {
  const size = parseInt(text, 16)
  const start = text.indexOf("\r\n") + 2
  return size > 0 ? text.slice(start, start + size) + unchunk(text.slice(start + size + 2)) : ""
}

/** A raw connection to the server. */
export class Dialogue {
  readonly #socket
  readonly #watchers = new Set<() => void>()
  #received = ""
  readonly connected: Promise<void>
  /** When the connection is closed, by whoever and however. */
  readonly closed: Promise<void>

  constructor(port: number) {
    this.#socket = connect({ port, host: "127.0.0.1", allowHalfOpen: true })
    this.#socket.setEncoding("latin1").on("data", (chunk: Buffer) => {
      this.#received += chunk.toString()
      for (const watch of this.#watchers) watch()
    })
    this.#socket.on("error", () => undefined)
    this.#socket.on("end", () => this.#socket.end())
    this.connected = new Promise((resolve) => {
      this.#socket.on("connect", () => {
        resolve()
      })
    })
    this.closed = new Promise((resolve) => {
      this.#socket.on("close", () => {
        resolve()
      })
    })
  }

  get received(): string {
    return this.#received
  }

  get open(): boolean {
    return this.#socket.writable
  }

  write(bytes: string | Uint8Array): void {
    this.#socket.write(bytes)
  }

  /** Waits until something has come back. */
  async heard(pattern: RegExp): Promise<void> {
    return new Promise((resolve, reject) => {
      const look = () => {
        if (!pattern.test(this.#received)) return
        this.#watchers.delete(look)
        resolve()
      }
      this.#watchers.add(look)
      void this.closed.then(() => {
        look()
        if (this.#watchers.has(look)) reject(new Error(`closed, and never heard ${pattern}: ${this.#received}`))
      })
      look()
    })
  }

  /** Says that nothing more will be sent, and goes on listening. */
  finish(): void {
    this.#socket.end()
  }

  hangUp(): void {
    this.#socket.destroy()
  }

  /** Breaks the connection off, as a crashed client does. */
  reset(): void {
    this.#socket.resetAndDestroy()
  }
}

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

/** Checks the headers that every answer has, whatever it is. */
export const assertStandardHeaders = ({ headers }: Pick<Answer, "headers">): void => {
  assert.strictEqual(headers.get("cache-control"), "no-store")
  assert.strictEqual(headers.get("x-content-type-options"), "nosniff")
  assert.match(headers.get("x-request-id") ?? "", uuid)
}

/** The answer is a refusal: this status, exactly the envelope with this code, and the headers of every answer. */
export const assertRefused = (answer: RawAnswer, status: number, code: string, message: RegExp = /./): void => {
  assert.strictEqual(answer.status, status, answer.text)
  assert.match(answer.headers.get("content-type")?.trim() ?? "", /^application\/json/)
  const body: Json = jsonOf(answer.text)
  assert.deepStrictEqual(Object.keys(body ?? {}), ["error"], answer.text)
  assert.deepStrictEqual(Object.keys(body.error), ["code", "message"])
  assert.strictEqual(body.error.code, code, answer.text)
  assert.match(body.error.message, message)
  assert.isBelow(body.error.message.length, 400)
  assertStandardHeaders(answer)
}

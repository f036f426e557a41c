import { type ChildProcess, spawn } from "node:child_process"
import { randomBytes } from "node:crypto"
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { startBuiltServer } from "../../../client/src/testing/BuiltServer.js"
import type { ServerProcess } from "../../../client/src/testing/ServerProcess.js"
import { freePort } from "../../../server/test/support/Port.js"

const programs = {
  coffer: fileURLToPath(new URL("../../bin/coffer.js", import.meta.url)),
  server: fileURLToPath(new URL("../../../server/bin/coffer-server.js", import.meta.url))
}

/** The Node that runs the client: another one by COFFER_TEST_NODE. */
export const node = process.env["COFFER_TEST_NODE"] ?? process.execPath

/** The environment variables of a program, without the others of the process that runs the tests. */
const bare = { PATH: process.env["PATH"] ?? "", TMPDIR: tmpdir() }

/** Collects what a stream of a program says. */
const collect = (stream: NodeJS.ReadableStream | null) => {
  const chunks: Array<Buffer> = []
  stream?.on("data", (chunk: Buffer) => chunks.push(chunk))
  return () => Buffer.concat(chunks)
}

/** Waits until something holds: as long as a machine that does much else may need. */
export const until = async <A>(look: () => A | undefined, what: string, seconds = 120): Promise<A> => {
  const end = performance.now() + seconds * 1000
  for (;;) {
    const found = look()
    if (found !== undefined) return found
    if (performance.now() > end) throw new Error(`waited ${seconds} s in vain for ${what}`)
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
}

export interface Result {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
  readonly stdout: string
  readonly stderr: string
}

export interface RunOptions {
  readonly env?: Record<string, string>
  readonly cwd?: string
  readonly input?: string | Buffer
}

/** A folder of its own: a home with its configuration, and a place to work in. */
export class TestHome {
  readonly folder = mkdtempSync(join(tmpdir(), "coffer-cli-"))

  constructor(readonly serverUrl: string) {}

  /** The file of its sessions. */
  get session() {
    return join(this.folder, ".config/coffer/session")
  }

  /** The token of its session at the server. */
  get token(): string {
    return JSON.parse(readFileSync(this.session, "utf8"))[this.serverUrl]
  }

  get environment(): Record<string, string> {
    return { ...bare, HOME: this.folder, SERVICE_SERVER_URL: this.serverUrl }
  }

  /** Starts any program at this home. */
  spawn(file: string, args: ReadonlyArray<string>, options: RunOptions = {}): ChildProcess {
    return spawn(file, args, {
      cwd: options.cwd ?? this.folder,
      env: { ...this.environment, ...options.env },
      stdio: "pipe",
      // A group of its own, so that a signal to the group of the tests cannot pass for one that was forwarded.
      detached: true
    })
  }

  start(args: ReadonlyArray<string>, options: RunOptions = {}): ChildProcess {
    return this.spawn(node, [programs.coffer, ...args], options)
  }

  /** Runs the client to its end. */
  coffer(args: ReadonlyArray<string>, options: RunOptions = {}): Promise<Result> {
    return finish(this.start(args, options), options.input)
  }

  /** Runs a shell to its end; `$COFFER` starts the client. */
  shell(script: string, options: RunOptions = {}): Promise<Result> {
    const env = { COFFER: `${node} ${programs.coffer}`, ...options.env }
    return finish(this.spawn("/bin/sh", ["-c", script], { ...options, env }), options.input)
  }

  remove() {
    rmSync(this.folder, { recursive: true, force: true })
  }
}

/** Waits for a program's end. */
export const finish = async (child: ChildProcess, input: string | Buffer = ""): Promise<Result> => {
  const stdout = collect(child.stdout)
  const stderr = collect(child.stderr)
  // A program may end before it has read its input.
  child.stdin?.on("error", () => {})
  child.stdin?.end(input)
  const code = await new Promise<number | null>((resolve) => child.once("close", resolve))
  const signal = child.signalCode
  return { code, signal, stdout: stdout().toString(), stderr: stderr().toString() }
}

/** A real server with a fresh database, in dev mode. */
export class Server {
  private constructor(
    readonly url: string,
    private readonly folder: string,
    private readonly env: Record<string, string>,
    private process: ServerProcess
  ) {}

  /** @param settings more variables, by the server's address. */
  static async start(
    settings: (url: string) => Record<string, string> | Promise<Record<string, string>> = () => ({})
  ): Promise<Server> {
    const folder = mkdtempSync(join(tmpdir(), "coffer-server-"))
    const port = await freePort()
    const url = `http://127.0.0.1:${port}`
    const env = {
      SERVICE_MASTER_KEY: randomBytes(32).toString("hex"),
      SERVICE_DB_PATH: join(folder, "service.db"),
      SERVICE_PORT: String(port),
      SUPERADMIN_EMAIL_0: "root@example.com",
      ...(await settings(url))
    }
    return new Server(url, folder, env, (await startBuiltServer(folder, env)).server)
  }

  /** Ends it at once, as a machine that loses its power does. */
  async kill() {
    await this.process.stop("SIGKILL")
  }

  /** Starts it again where it was. */
  async restart() {
    this.process = (await startBuiltServer(this.folder, this.env)).server
  }

  /** Runs a command of the server's own while the server is stopped. */
  async offline(args: ReadonlyArray<string>): Promise<Result> {
    await this.process.stop()
    const env = { ...bare, ...this.env }
    const result = await finish(spawn(process.execPath, [programs.server, ...args], { env, stdio: "pipe" }))
    await this.restart()
    return result
  }

  /** The newest login code for an address, from the log. */
  code(email: string): Promise<string> {
    return until(() => {
      const found = this.process.err.text.matchAll(/login code for (\S+): ([0-9]{6})/g)
      return [...found].filter((match) => match[1] === email).at(-1)?.[2]
    }, `a login code for ${email}`)
  }

  /** Sends a request as the client does, and gives what the answer says. */
  async call(method: string, path: string, { body, token }: { readonly body?: unknown; readonly token?: string } = {}) {
    const answer = await fetch(this.url + path, {
      method,
      headers: {
        // A kept connection, which the server may close while this process works, loses the next request.
        connection: "close",
        "content-type": "application/json",
        "x-coffer-client": "cli",
        ...(token !== undefined && { authorization: `Bearer ${token}` })
      },
      ...(body !== undefined && { body: JSON.stringify(body) })
    })
    const text = await answer.text()
    if (!answer.ok) throw new Error(`${method} ${path}: ${text}`)
    return text === "" ? undefined : JSON.parse(text)
  }

  /** A home where somebody is logged in. */
  async login(email: string): Promise<TestHome> {
    await this.call("POST", "/api/auth/login", { body: { email } })
    const { token } = await this.call("POST", "/api/auth/verify", { body: { email, code: await this.code(email) } })
    const home = new TestHome(this.url)
    mkdirSync(join(home.folder, ".config/coffer"), { recursive: true, mode: 0o700 })
    writeFileSync(home.session, `${JSON.stringify({ [this.url]: token })}\n`, { mode: 0o600 })
    return home
  }

  async stop() {
    await this.process.stop()
    rmSync(this.folder, { recursive: true, force: true })
  }
}

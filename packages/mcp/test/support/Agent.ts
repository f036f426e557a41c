import { Client } from "@modelcontextprotocol/sdk/client/index.js"
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js"
import {
  CallToolResultSchema,
  type ElicitRequest,
  ElicitRequestSchema,
  type ElicitResult,
  type JSONRPCMessage,
  McpError
} from "@modelcontextprotocol/sdk/types.js"
import { AjvJsonSchemaValidator } from "@modelcontextprotocol/sdk/validation/ajv-provider.js"
import type { JsonSchemaType, JsonSchemaValidator } from "@modelcontextprotocol/sdk/validation/types.js"
import type { ChildProcess } from "node:child_process"
import { once } from "node:events"
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { assert } from "vitest"
import type { Json } from "../../../server/test/support/Program.js"

export const bin = fileURLToPath(new URL("../../bin/coffer-mcp.js", import.meta.url))

export type Variables = Readonly<Record<string, string>>

const desks: Array<TestHome> = []

/** A home with its configuration, and a directory to work in. */
export class TestHome {
  readonly home = mkdtempSync(join(tmpdir(), "coffer-mcp-"))
  readonly directory = join(this.home, "work")
  readonly #config = join(this.home, ".config", "coffer")

  constructor() {
    mkdirSync(this.directory)
    mkdirSync(this.#config, { recursive: true })
    desks.push(this)
  }

  /** Somebody has logged in at a server. */
  session(origin: string, token: string, mode = 0o600): this {
    const file = join(this.#config, "session")
    writeFileSync(file, JSON.stringify({ [origin]: token }))
    // Whatever the umask of the tests is.
    chmodSync(file, mode)
    return this
  }

  /** Somebody has delegated, for a place. */
  delegation(origin: string, { env, expires_at, id, name, org, project, token }: Json): this {
    const folder = join(this.#config, "delegations", encodeURIComponent(origin))
    mkdirSync(folder, { recursive: true })
    const text = JSON.stringify({ id, name, token, expires_at })
    writeFileSync(join(folder, `${org}.${project}.${env}`), text, { mode: 0o600 })
    return this
  }

  /** Somebody has said that keys may go there. */
  trust(origin: string): this {
    writeFileSync(join(this.#config, "trusted"), `${origin}\n`, { mode: 0o600 })
    return this
  }

  serviceYml(text: string): this {
    writeFileSync(join(this.directory, "service.yml"), text)
    return this
  }
}

/** The SDK's own transport, which also keeps every byte. */
class Recorder extends StdioClientTransport {
  #child: ChildProcess | undefined
  readonly #stdout: Array<Buffer> = []
  readonly #stderr: Array<Buffer> = []
  #ended: Promise<{ readonly code: number | null; readonly signal: string | null }> | undefined

  override async start() {
    await super.start()
    const child: ChildProcess = Reflect.get(this, "_process")
    this.#child = child
    // The SDK listens once for each message that waits.
    child.stdin?.setMaxListeners(0)
    child.stdout?.on("data", (chunk: Buffer) => this.#stdout.push(chunk))
    child.stderr?.on("data", (chunk: Buffer) => this.#stderr.push(chunk))
    this.#ended = once(child, "close").then(([code, signal]) => ({ code, signal }))
  }

  get child(): ChildProcess {
    assert(this.#child !== undefined)
    return this.#child
  }

  get ended() {
    assert(this.#ended !== undefined)
    return this.#ended
  }

  get out(): string {
    return Buffer.concat(this.#stdout).toString("utf8")
  }

  get log(): string {
    return Buffer.concat(this.#stderr).toString("utf8")
  }
}

/** The SDK's own validator, which many clients share: each schema is compiled once. */
class SharedValidator extends AjvJsonSchemaValidator {
  readonly #made = new Map<string, JsonSchemaValidator<Json>>()

  override getValidator<T>(schema: JsonSchemaType): JsonSchemaValidator<T> {
    const text = JSON.stringify(schema)
    const made = this.#made.get(text) ?? super.getValidator<T>(schema)
    this.#made.set(text, made)
    return made
  }
}
const jsonSchemaValidator = new SharedValidator()

export interface Answer {
  readonly isError: boolean
  readonly text: string
  readonly structured: Json
}

const agents: Array<Agent> = []

/** An agent: the official client, and `coffer-mcp` as a process of its own, started from the build. */
export class Agent {
  private constructor(
    readonly client: Client,
    private readonly transport: Recorder
  ) {}

  /**
   * @param reply what the person replies to questions. Without it, the host cannot ask.
   * @param elicitation what the host says that it can: forms, unless told otherwise.
   */
  static async start(
    variables: Variables = {},
    home = new TestHome(),
    reply?: (question: ElicitRequest["params"]) => ElicitResult | Promise<ElicitResult>,
    elicitation: { readonly url?: object } = {}
  ): Promise<Agent> {
    const transport = new Recorder({
      command: process.execPath,
      args: [bin],
      cwd: home.directory,
      env: { HOME: home.home, ...variables },
      stderr: "pipe"
    })
    const capabilities = reply === undefined ? {} : { elicitation }
    const client = new Client({ name: "test", version: "0" }, { jsonSchemaValidator, capabilities })
    if (reply !== undefined) client.setRequestHandler(ElicitRequestSchema, ({ params }) => reply(params))
    const agent = new Agent(client, transport)
    agents.push(agent)
    await client.connect(transport)
    // From here on the client checks each answer against the tool's outputSchema.
    await client.listTools()
    return agent
  }

  /** Every byte that came on standard output. */
  get out(): string {
    return this.transport.out
  }

  /** Everything that it has written to standard error. */
  get log(): string {
    return this.transport.log
  }

  get ended() {
    return this.transport.ended
  }

  get pid(): number {
    return this.transport.child.pid ?? 0
  }

  send(message: JSONRPCMessage): Promise<void> {
    return this.transport.send(message)
  }

  write(bytes: string): void {
    this.transport.child.stdin?.write(bytes)
  }

  closeInput(): void {
    this.transport.child.stdin?.end()
  }

  kill(signal: NodeJS.Signals): void {
    this.transport.child.kill(signal)
  }

  async call(name: string, parameters: Record<string, unknown> = {}, signal?: AbortSignal): Promise<Answer> {
    const result = await this.client.callTool({ name, arguments: parameters }, CallToolResultSchema, {
      ...(signal && { signal })
    })
    assert.isArray(result.content)
    const [content, ...rest] = Array.isArray(result.content) ? result.content : []
    assert.deepStrictEqual(rest, [])
    assert.strictEqual(content.type, "text")
    return { isError: result.isError === true, text: content.text, structured: result.structuredContent }
  }

  /** A call that succeeds: what it answers, in both forms the same. */
  async use(name: string, parameters: Record<string, unknown> = {}): Promise<Json> {
    const { isError, structured, text } = await this.call(name, parameters)
    assert.isFalse(isError, text)
    assert.deepStrictEqual(JSON.parse(text), structured)
    return structured
  }

  /** A call that fails: the text says each of these codes, a line each, and what to do. */
  async refused(name: string, parameters: Record<string, unknown>, ...codes: ReadonlyArray<string>): Promise<string> {
    const { isError, structured, text } = await this.call(name, parameters)
    assert.isTrue(isError, text)
    assert.isUndefined(structured)
    const lines = text.split("\n")
    assert.deepStrictEqual(
      lines.map((line) => line.slice(0, line.indexOf(":"))),
      [...codes]
    )
    for (const line of lines) assert.match(line, /Next: .|pass the parameter |ask the user /)
    return text
  }

  /** A call of a tool that does not exist: an error of the protocol. */
  async unknown(name: string, parameters: Record<string, unknown> = {}): Promise<McpError> {
    const error = await this.call(name, parameters).then(
      () => assert.fail("it was answered"),
      (error: unknown) => error
    )
    assert(error instanceof McpError)
    return error
  }

  /** Standard output is the protocol and nothing else: a JSON-RPC message a line. */
  assertProtocol(): void {
    const lines = this.out.split("\n")
    assert.strictEqual(lines.pop(), "")
    for (const line of lines) assert.strictEqual(JSON.parse(line).jsonrpc, "2.0")
  }

  async stop() {
    await this.client.close()
    return this.ended
  }
}

/** Ends every agent of a file and removes their homes. */
export const clearAway = async (): Promise<void> => {
  await Promise.all(agents.splice(0).map((agent) => agent.stop()))
  for (const { home } of desks.splice(0)) rmSync(home, { recursive: true, force: true })
}

import { createHash } from "node:crypto"
import type { Json, Program } from "../support/Program.js"

export interface Asked {
  /** Why this request is in the recording, where its line does not say so. */
  readonly why?: string
  /** A session token. */
  readonly by?: string | undefined
  /** An API key. */
  readonly key?: string
  /** Sent as JSON. */
  readonly body?: unknown
  /** Sent as it is. */
  readonly raw?: string
  /** Header lines, as they are. */
  readonly fields?: ReadonlyArray<string>
  /** Records that there is a body, and nothing of it. */
  readonly opaque?: boolean
}

interface Received {
  readonly status: number
  readonly headers: ReadonlyArray<readonly [string, string]>
  readonly text: string
  readonly body: Json
}

/** UTF-8 that was taken for Latin-1. */
const decoded = (text: string): string => Buffer.from(text, "latin1").toString()

const receivedOf = (bytes: string): Received => {
  const end = bytes.indexOf("\r\n\r\n")
  const [line = "", ...fields] = bytes.slice(0, end).split("\r\n")
  const text = bytes.slice(end + 4)
  return {
    status: Number(line.split(" ")[1]),
    headers: fields.map((field) => {
      const colon = field.indexOf(":")
      return [field.slice(0, colon).toLowerCase(), field.slice(colon + 1).trim()]
    }),
    text,
    body: /^[{[]/.test(text) ? JSON.parse(decoded(text)) : undefined
  }
}

const uuid = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g
/** Fields whose length two runs may differ in. */
const varies = /size_bytes|next_cursor|key_fingerprint|in \d+ seconds|"seconds"/
const standard = ["cache-control: no-store", "connection: close", "x-content-type-options: nosniff"]

/** Asks a server, and writes down what it answers in a form in which two runs are equal. */
export class Recorder {
  readonly #ids = new Map<string, string>()
  readonly #lines: Array<string> = []
  #last = ""

  constructor(readonly program: Program) {}

  /** The recording so far, as lines of text. */
  get text(): string {
    return `${this.#lines.join("\n")}\n`
  }

  /** The successful calls, as `METHOD path`. */
  readonly succeeded: Array<string> = []

  async ask(method: string, path: string, asked: Asked = {}): Promise<Json> {
    const { body, by, fields = [], key, opaque = false, raw, why } = asked
    const payload = raw ?? (body === undefined ? "" : JSON.stringify(body))
    const head = [
      `${method} ${path} HTTP/1.1`,
      "Host: coffer.test",
      "Connection: close",
      ...(by === undefined ? [] : [`Authorization: Bearer ${by}`]),
      ...(key === undefined ? [] : [`X-API-Key: ${key}`]),
      ...(payload === "" || fields.some((field) => /^(content-length|transfer-encoding):/i.test(field))
        ? []
        : [`Content-Length: ${Buffer.byteLength(payload)}`]),
      ...(body === undefined ? [] : ["Content-Type: application/json"]),
      ...fields
    ]
    const dialogue = this.program.dial()
    dialogue.write(`${head.join("\r\n")}\r\n\r\n${payload}`)
    await dialogue.closed
    const received = receivedOf(dialogue.received)
    if (received.status < 300) this.succeeded.push(`${method} ${path.split("?", 1)[0]}`)
    const entry = [
      `${method} ${this.#normal(path)}${why === undefined ? "" : `  # ${why}`}`,
      `  ${received.status} ${this.#headers(received, opaque)}`,
      ...(received.text === "" ? [] : [`  ${opaque ? "(a body)" : this.#normal(decoded(received.text))}`])
    ].join("\n")
    // The same answer to the same request is written down once.
    if (entry !== this.#last) this.#lines.push(entry)
    this.#last = entry
    return received.body
  }

  #headers({ headers, text }: Received, opaque: boolean): string {
    const lines = headers
      .map(([name, value]) => `${name}: ${value}`)
      .filter((line) => !line.startsWith("date: "))
      .map((line) => (opaque ? line.replace(/^(content-length|content-security-policy): .*/, "$1: …") : line))
      .map((line) => line.replace(/^x-request-id: [0-9a-f-]{36}$/, "x-request-id"))
      .map((line) => (line.startsWith("location: ") ? line.replace(uuid, this.#numbered) : line))
      .map((line) => line.replace(/^etag: ".*"$/, 'etag: "…"'))
      .map((line) => line.replace(/^retry-after: \d{2,}$/, "retry-after: …"))
    // Headers that every response has are left out; those of them that are missing are listed.
    const expected = [...standard, "x-request-id"]
    const missing = expected.filter((line) => !lines.includes(line)).map((line) => `-${line}`)
    const others = lines.filter((line) => !expected.includes(line)).sort()
    const length = headers.find(([name]) => name === "content-length")?.[1]
    const isRight = length === undefined || text === "" || Number(length) === text.length
    return [...missing, ...others, ...(isRight ? [] : [`(${text.length} bytes came)`])]
      .map((line) => (varies.test(text) ? line.replace(/^content-length: \d+$/, "content-length: …") : line))
      .join(" | ")
  }

  #normal(text: string): string {
    const words: ReadonlyArray<readonly [RegExp, string]> = [
      [/"etag":"\\"[^"]*\\""/g, '"etag":"…"'],
      [/\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z/g, "<time>"],
      [/(?<="writes":\[\[)\d{13}(?=,)/g, "<time>"],
      [/svc_(?:st|sa|dt|ft|wh|sc)_[A-Za-z0-9_-]+/g, "<token>"],
      [/(?<="device_code":")[\w-]+/g, "<code>"],
      [/(?<="challenge":")[\w-]+/g, "<challenge>"],
      [/(?<="(?:user|(?:allow|exclude)Credentials)":\[?\{"id":")[\w-]+/g, "<handle>"],
      [/[B-Z]{4}-[B-Z]{4}(?=")/g, "<user code>"],
      [/"(key_hint|hint)":"[^"]*"/g, '"$1":"…"'],
      [/"(size_bytes|age_seconds|seconds)":[\d.]+/g, '"$1":…'],
      [/"path":"[^"]*"/g, '"path":"…"'],
      [/"(next_cursor|key_fingerprint|chain)":"[^"]*"/g, '"$1":"…"'],
      [/in \d+ seconds/g, "in … seconds"]
    ]
    const shorter = text.length > 4_000 ? `${createHash("sha256").update(text).digest("hex")} of ${text.length}` : text
    return words
      .reduce((normal, [pattern, word]) => normal.replace(pattern, word), shorter)
      .replace(uuid, this.#numbered)
  }

  readonly #numbered = (id: string): string => {
    const known = this.#ids.get(id) ?? `<id ${this.#ids.size + 1}>`
    this.#ids.set(id, known)
    return known
  }

  /** Begins a part of the recording. */
  part(title: string): void {
    this.#lines.push("", `## ${title}`)
  }
}

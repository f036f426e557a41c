import { once } from "node:events"
import type { AddressInfo } from "node:net"
import { SMTPServer } from "smtp-server"

/** A mail server that keeps the codes, and refuses some people with their address in its words. */
export class Post {
  readonly #codes = new Map<string, Array<string>>()
  readonly #server: SMTPServer

  private constructor() {
    this.#server = new SMTPServer({
      authOptional: true,
      disabledCommands: ["STARTTLS"],
      onRcptTo: ({ address }, _session, callback) => {
        callback(
          address.startsWith("refused")
            ? Object.assign(new Error(`no such person: ${address}`), { responseCode: 550 })
            : null
        )
      },
      onData: (stream, { envelope }, callback) => {
        const chunks: Array<Buffer> = []
        stream.on("data", (chunk: Buffer) => chunks.push(chunk))
        stream.on("end", () => {
          // An invitation has none.
          const code = /code is (\d{6})/.exec(Buffer.concat(chunks).toString())?.[1]
          if (code !== undefined) {
            for (const { address } of envelope.rcptTo) {
              this.#codes.set(address, [...(this.#codes.get(address) ?? []), code])
            }
          }
          callback()
        })
      }
    })
    this.#server.on("error", () => {})
  }

  static async open(): Promise<Post> {
    const post = new Post()
    const listening = post.#server.listen(0, "127.0.0.1")
    await once(listening, "listening")
    return post
  }

  get port(): number {
    const address: AddressInfo | string | null = this.#server.server.address()
    return typeof address === "object" && address !== null ? address.port : 0
  }

  /** Every code that was mailed. */
  get codes(): ReadonlyArray<string> {
    return [...this.#codes.values()].flat()
  }

  /** The `count`-th code for an address. */
  async code(address: string, count = 1): Promise<string> {
    for (;;) {
      const code = this.#codes.get(address)?.[count - 1]
      if (code !== undefined) return code
      await new Promise((resolve) => setTimeout(resolve, 5))
    }
  }

  close(): void {
    this.#server.close(() => {})
  }
}

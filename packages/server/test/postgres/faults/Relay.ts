import { once } from "node:events"
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net"

/** A TCP proxy between a server and its database, which the test can cut, stop or point elsewhere. */
export class Relay {
  readonly #sockets = new Set<Socket>()
  #isSilent = false
  #cutsCommits = false

  private constructor(
    readonly server: Server,
    private target: number
  ) {}

  static async to(port: number): Promise<Relay> {
    const server = createServer()
    const relay = new Relay(server, port)
    server.on("connection", (client) => {
      relay.#connect(client)
    })
    server.listen(0, "127.0.0.1")
    await once(server, "listening")
    return relay
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port
  }

  #connect(client: Socket): void {
    const target = connect(this.target, "127.0.0.1")
    for (const [socket, other] of [
      [client, target],
      [target, client]
    ] as const) {
      this.#sockets.add(socket)
      socket.on("error", () => undefined)
      socket.on("close", () => {
        this.#sockets.delete(socket)
        other.destroy()
      })
    }
    target.on("data", (data) => {
      if (!this.#isSilent) client.write(data)
    })
    client.on("data", (data) => {
      if (this.#isSilent) return
      target.write(data)
      // The change is made, and its answer does not arrive. A statement ends with a zero: BEGIN names READ COMMITTED.
      if (this.#cutsCommits && data.includes("COMMIT\0")) setImmediate(() => client.destroy())
    })
  }

  /** Whether nothing is passed on, as by a network that has failed silently. */
  set silent(is: boolean) {
    this.#isSilent = is
    // What was swallowed cannot come later.
    if (!is) this.cut()
  }

  /** Whether a connection is cut after it has passed a COMMIT on. */
  set cutsCommits(does: boolean) {
    this.#cutsCommits = does
  }

  /** Closes all connections, and opens new ones to another port. */
  moveTo(port: number): void {
    this.target = port
    this.cut()
  }

  cut(): void {
    for (const socket of this.#sockets) socket.destroy()
  }

  close(): void {
    this.cut()
    this.server.close()
  }
}

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
    let isCommitting = false
    target.on("data", (data) => {
      if (this.#isSilent) return
      // The change is made, and its answer does not arrive. Cut before it was made, a pipelined COMMIT could be lost itself.
      if (isCommitting && data.includes("COMMIT\0")) client.destroy()
      else client.write(data)
    })
    client.on("data", (data) => {
      if (this.#isSilent) return
      // A statement ends with a zero: BEGIN names READ COMMITTED.
      isCommitting ||= this.#cutsCommits && data.includes("COMMIT\0")
      target.write(data)
    })
  }

  /** Whether nothing is passed on, as by a network that has failed silently. */
  set silent(is: boolean) {
    this.#isSilent = is
    // Swallowed data cannot arrive later.
    if (!is) this.cut()
  }

  /** Whether a connection is cut when a COMMIT is answered. */
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

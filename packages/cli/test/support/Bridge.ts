import { once } from "node:events"
import { connect, createServer, type Server, type Socket } from "node:net"

/** A way to a server that can be closed for a while, at once and without waiting for the server to start again. */
export class Bridge {
  private listener: Server | undefined
  private readonly sockets = new Set<Socket>()
  port = 0

  private constructor(private readonly target: number) {}

  /** Leads to the server at this address. */
  static async to(url: string): Promise<Bridge> {
    const bridge = new Bridge(Number(new URL(url).port))
    await bridge.open()
    return bridge
  }

  get url() {
    return `http://127.0.0.1:${this.port}`
  }

  async open(): Promise<void> {
    this.listener = createServer((socket) => {
      const onward = connect(this.target, "127.0.0.1")
      for (const end of [socket, onward]) this.sockets.add(end.on("error", () => end.destroy()))
      socket.pipe(onward).pipe(socket)
    }).listen(this.port, "127.0.0.1")
    await once(this.listener, "listening")
    const address = this.listener.address()
    this.port = typeof address === "object" && address !== null ? address.port : 0
  }

  /** When it is done, connections are refused, and something else can listen there. */
  async close(): Promise<void> {
    const { listener } = this
    if (listener?.listening !== true) return
    const closed = once(listener, "close")
    listener.close()
    for (const socket of this.sockets) socket.destroy()
    this.sockets.clear()
    await closed
  }
}

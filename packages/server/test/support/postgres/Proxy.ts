import { once } from "node:events"
import { type AddressInfo, connect, createServer, type Socket } from "node:net"
import { Effect } from "effect"

/** When the proxy cuts a connection: before it passes COMMIT on, or between that and its answer. */
type Cut = "unsent" | "sent"

/** How long the server has for a COMMIT whose answer is not passed on. */
const commitMillis = 200

/** A TCP proxy in front of a server, which cuts the connection of the next COMMIT if it is told to. */
export const proxy = (url: string) =>
  Effect.acquireRelease(
    Effect.promise(async () => {
      const { hostname, pathname, port, username } = new URL(url)
      const sockets = new Set<Socket>()
      let next: Cut | null = null
      const server = createServer((client) => {
        const target = connect(Number(port), hostname)
        for (const socket of [client, target]) {
          sockets.add(socket)
          socket.on("error", () => undefined)
          socket.on("close", () => {
            sockets.delete(socket)
            client.destroy()
            target.destroy()
          })
        }
        let isCut = false
        target.on("data", (data) => {
          if (!isCut) client.write(data)
        })
        client.on("data", (data) => {
          const when = data.includes("COMMIT\0") ? next : null
          if (when === null) return void target.write(data)
          next = null
          isCut = true
          if (when === "unsent") return void client.destroy()
          target.write(data)
          setTimeout(() => client.destroy(), commitMillis)
        })
      })
      server.listen(0, "127.0.0.1")
      await once(server, "listening")
      const address = server.address() as AddressInfo
      return {
        /** The URL of the database behind the proxy. */
        behind: `postgres://${username}@127.0.0.1:${address.port}${pathname}`,
        cut: (when: Cut): void => {
          next = when
        },
        close: () => {
          for (const socket of sockets) socket.destroy()
          server.close()
        }
      }
    }),
    ({ close }) => Effect.sync(close)
  )

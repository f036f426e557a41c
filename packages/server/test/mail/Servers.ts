import type { AddressInfo } from "node:net"
import { createServer } from "node:net"
import { Effect, Queue } from "effect"
import type { SMTPServerOptions } from "smtp-server"
import { SMTPServer } from "smtp-server"

/** A mail that arrived. */
export interface Received {
  readonly from: string
  readonly to: ReadonlyArray<string>
  readonly user: string | null
  readonly secure: boolean
  readonly text: string
}

/** How a mail server refuses. Its text must not get into a log. */
export const refusal = (responseCode: number) => Object.assign(new Error("no, ada@example.com"), { responseCode })

/** A mail server on loopback; `refusals` are what it answers to the first mails. */
export const mailServer = (options: SMTPServerOptions = {}, refusals: ReadonlyArray<number> = []) =>
  Effect.gen(function* () {
    const received = yield* Queue.unbounded<Received>()
    const connected = yield* Queue.unbounded<string>()
    const left = [...refusals]
    const server = new SMTPServer({
      authOptional: true,
      disabledCommands: ["STARTTLS"],
      onConnect: (session, callback) => {
        Queue.unsafeOffer(connected, session.id)
        callback()
      },
      onMailFrom: (_address, _session, callback) => {
        const responseCode = left.shift()
        callback(responseCode === undefined ? null : refusal(responseCode))
      },
      onData: (stream, session, callback) => {
        const chunks: Array<Buffer> = []
        stream.on("data", (chunk: Buffer) => chunks.push(chunk))
        stream.on("end", () => {
          const { mailFrom, rcptTo } = session.envelope
          Queue.unsafeOffer(received, {
            from: mailFrom === false ? "" : mailFrom.address,
            to: rcptTo.map(({ address }) => address),
            user: session.user === undefined ? null : String(session.user),
            secure: session.secure,
            text: Buffer.concat(chunks).toString()
          })
          callback()
        })
      },
      ...options
    })
    server.on("error", () => {})
    const port = yield* Effect.acquireRelease(
      Effect.async<number>((resume) => {
        const listening = server.listen(0, "127.0.0.1", () => {
          resume(Effect.succeed((listening.address() as AddressInfo).port))
        })
      }),
      () => Effect.async<void>((resume) => server.close(() => resume(Effect.void)))
    )
    return { port, received, connected }
  })

/** Takes connections and never says a word. */
export const silentServer = Effect.acquireRelease(
  Effect.async<{ readonly port: number; readonly close: () => void }>((resume) => {
    const sockets = new Set<{ destroy: () => void }>()
    const server = createServer((socket) => {
      sockets.add(socket)
      socket.on("error", () => {})
    }).listen(0, "127.0.0.1", () => {
      const { port } = server.address() as AddressInfo
      const close = () => {
        sockets.forEach((socket) => socket.destroy())
        server.close()
      }
      resume(Effect.succeed({ port, close }))
    })
  }),
  ({ close }) => Effect.sync(close)
)

/** The text of a mail as a person reads it: without the headers, and with long lines in one piece (quoted-printable). */
export const readText = ({ text }: Received): string =>
  text
    .slice(text.indexOf("\r\n\r\n") + 4)
    .replaceAll("=\r\n", "")
    .replace(/=([0-9A-F]{2})/g, (_code, hex: string) => String.fromCharCode(parseInt(hex, 16)))
    .replaceAll("\r\n", "\n")

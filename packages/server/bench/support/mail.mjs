import { once } from "node:events"
import { setTimeout as sleep } from "node:timers/promises"
import { SMTPServer } from "smtp-server"

/** Starts a mail server on a free port, which stores the login codes that it receives. */
export const startMail = async () => {
  const codes = new Map()
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ["STARTTLS"],
    onData: (stream, { envelope }, callback) => {
      const chunks = []
      stream.on("data", (chunk) => chunks.push(chunk))
      stream.on("end", () => {
        const [, code] = /code is (\d{6})/.exec(Buffer.concat(chunks).toString()) ?? []
        for (const { address } of envelope.rcptTo) codes.set(address, code)
        callback()
      })
    }
  })
  await once(server.listen(0, "127.0.0.1"), "listening")
  return {
    env: {
      SMTP_HOST: "127.0.0.1",
      SMTP_PORT: String(server.server.address().port),
      SMTP_FROM: "coffer@example.com",
      SMTP_TLS: "none"
    },
    /** Returns and removes the code that was mailed to an address. */
    code: async (address, seconds = 10) => {
      for (const end = performance.now() + seconds * 1000; performance.now() < end; await sleep(5)) {
        const code = codes.get(address)
        if (codes.delete(address)) return code
      }
      throw new Error("a code was not mailed")
    },
    stop: () => new Promise((resolve) => server.close(resolve))
  }
}

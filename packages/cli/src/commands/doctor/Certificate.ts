import { reasonOf } from "@coffer/client/internal/ConnectionProblem"
import type { UsedProxy } from "@coffer/client/internal/ProxyProblem"
import type { ServerUrl } from "@coffer/client/internal/ServerUrl"
import * as Clock from "effect/Clock"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import type { Socket } from "node:net"
import type { PeerCertificate } from "node:tls"
import { type Finding, ok, problem, warning } from "./Finding.js"

class NoCertificate extends Data.TaggedError("NoCertificate")<{ readonly cause: unknown }> {}

interface Shown {
  readonly certificate: PeerCertificate
  /** Why it is not trusted; none if it is. */
  readonly code: string | undefined
}

/** Opens a tunnel through a proxy. */
const openTunnel = ({ url }: UsedProxy, host: string) =>
  Effect.async<Socket, NoCertificate>((resume) => {
    const { request } = process.getBuiltinModule(url.protocol === "https:" ? "node:https" : "node:http")
    const name = [url.username, url.password].map(decodeURIComponent).join(":")
    const headers = {
      host,
      ...(url.username !== "" && { "proxy-authorization": `Basic ${Buffer.from(name).toString("base64")}` })
    }
    const sent = request(url, { method: "CONNECT", path: host, headers, agent: false })
    sent.once("connect", (_response, socket: Socket) => resume(Effect.succeed(socket)))
    sent.once("error", (cause) => resume(new NoCertificate({ cause })))
    sent.end()
    return Effect.sync(() => sent.destroy())
  })

/** Connects to see the certificate, also one that is not trusted. Nothing is sent to the server. */
const readCertificate = Effect.fnUntraced(
  function* ({ base }: ServerUrl, proxy: UsedProxy | undefined) {
    const { hostname, port } = new URL(base)
    const address = { host: hostname.replace(/^\[|\]$/g, ""), port: port === "" ? 443 : Number(port) }
    const way = proxy === undefined ? address : { socket: yield* openTunnel(proxy, `${hostname}:${address.port}`) }
    return yield* Effect.async<Shown, NoCertificate>((resume) => {
      const { connect } = process.getBuiltinModule("node:tls")
      const { isIP } = process.getBuiltinModule("node:net")
      const servername = isIP(address.host) === 0 ? { servername: address.host } : {}
      const socket = connect({ ...way, rejectUnauthorized: false, ...servername }, () => {
        // An error's code, although the types say that it is an error.
        const reason: unknown = socket.authorizationError
        const code = socket.authorized ? undefined : reason instanceof Error ? reason.message : String(reason)
        resume(Effect.succeed({ certificate: socket.getPeerCertificate(), code }))
        socket.destroy()
      })
      socket.once("error", (cause) => resume(new NoCertificate({ cause })))
      return Effect.sync(() => socket.destroy())
    })
  },
  Effect.timeoutFail({ duration: "10 seconds", onTimeout: () => new NoCertificate({ cause: "timeout" }) })
)

const day = 86_400_000

/** Warn this many days before the end: certificates of public authorities are renewed 30 days before theirs. */
const soon = 14

const first = (name: string | ReadonlyArray<string> | undefined) => (typeof name === "string" ? name : name?.[0])

const judge = ({ certificate, code }: Shown, now: number): Finding => {
  const check = "certificate"
  const end = Date.parse(certificate.valid_to)
  const days = Math.floor((end - now) / day)
  const subject = first(certificate.subject.CN) ?? certificate.subjectaltname ?? "no name"
  const issuer = first(certificate.issuer.CN) ?? first(certificate.issuer.O) ?? "an authority without a name"
  const until = new Date(end).toISOString().slice(0, 10)
  const text = `${subject}, issued by ${issuer}, valid until ${until}`
  if (code !== undefined) return problem(check, `${text}; ${reasonOf({ code })}`)
  const renew = "the operator of the server must renew it"
  return days < soon ? warning(check, `${text}, for ${days} more days; ${renew}`) : ok(check, text)
}

/** The certificate of the server: whose it is, how long it is valid, and why it is not trusted. */
export const checkCertificate = (server: ServerUrl, proxy: UsedProxy | undefined): Effect.Effect<Finding> => {
  if (!server.secure) {
    return Effect.succeed(
      server.local
        ? ok("certificate", "none: clear text, which does not leave this machine")
        : warning("certificate", "none: your credential travels in clear text; use an https:// address")
    )
  }
  return Effect.zipWith(readCertificate(server, proxy), Clock.currentTimeMillis, judge).pipe(
    Effect.catchAll(({ cause }) =>
      Effect.succeed(warning("certificate", `it could not be looked at: ${reasonOf(cause)}; check the address`))
    )
  )
}

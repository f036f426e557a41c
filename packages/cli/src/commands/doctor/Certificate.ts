import { reasonOf } from "@coffer/client/internal/ConnectionProblem"
import type { ServerUrl } from "@coffer/client/internal/ServerUrl"
import * as Clock from "effect/Clock"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import type { PeerCertificate } from "node:tls"
import { type Finding, ok, problem, warning } from "./Finding.js"

class NoCertificate extends Data.TaggedError("NoCertificate")<{ readonly cause: unknown }> {}

interface Shown {
  readonly certificate: PeerCertificate
  /** Why it is not trusted; none if it is. */
  readonly code: string | undefined
}

/** Connects to see the certificate, also one that is not trusted. Nothing is sent. */
const readCertificate = ({ base }: ServerUrl) =>
  Effect.async<Shown, NoCertificate>((resume) => {
    const { hostname, port } = new URL(base)
    const host = hostname.replace(/^\[|\]$/g, "")
    const { connect } = process.getBuiltinModule("node:tls")
    const { isIP } = process.getBuiltinModule("node:net")
    const servername = isIP(host) === 0 ? { servername: host } : {}
    const socket = connect(
      { host, port: port === "" ? 443 : Number(port), rejectUnauthorized: false, ...servername },
      () => {
        // An error's code, although the types say that it is an error.
        const reason: unknown = socket.authorizationError
        const code = socket.authorized ? undefined : reason instanceof Error ? reason.message : String(reason)
        resume(Effect.succeed({ certificate: socket.getPeerCertificate(), code }))
        socket.destroy()
      }
    )
    socket.once("error", (cause) => resume(new NoCertificate({ cause })))
    return Effect.sync(() => socket.destroy())
  }).pipe(Effect.timeoutFail({ duration: "10 seconds", onTimeout: () => new NoCertificate({ cause: "timeout" }) }))

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
export const checkCertificate = (server: ServerUrl): Effect.Effect<Finding> => {
  if (!server.secure) {
    return Effect.succeed(
      server.local
        ? ok("certificate", "none: clear text, which does not leave this machine")
        : warning("certificate", "none: your credential travels in clear text; use an https:// address")
    )
  }
  return Effect.zipWith(readCertificate(server), Clock.currentTimeMillis, judge).pipe(
    Effect.catchAll(({ cause }) =>
      Effect.succeed(warning("certificate", `it could not be looked at: ${reasonOf(cause)}; check the address`))
    )
  )
}

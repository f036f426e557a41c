import type { Email } from "@coffer/domain/base/Names"
import * as Effect from "effect/Effect"
import type { Settings } from "../../base/Config.js"
import type { SmtpSettings } from "../../base/config/MailSettings.js"
import { smtpFailure, type SmtpFailure, transportOptions } from "../../base/mail/SmtpSender.js"
import { failed, type Finding, off, ok } from "./Finding.js"

/** Returns true for OpenSSL's errors on a first line that is no TLS. */
const isNoTls = (code: string): boolean => /^ERR_SSL_(WRONG_VERSION_NUMBER|PACKET_LENGTH_TOO_LONG)$/.test(code)

const nextOf = ({ atGreeting, code, responseCode }: SmtpFailure, { ehloName, secure }: SmtpSettings): string => {
  if (atGreeting) return `it refuses the greeting "EHLO ${ehloName}": set SMTP_EHLO_NAME to a name that it accepts`
  if (code === "EAUTH") return "correct SMTP_USERNAME and SMTP_PASSWORD; some providers require an app password"
  if (code === "ETLS")
    return "TLS failed: try SMTP_PORT=465, and check that the server's certificate is valid for SMTP_HOST"
  if (code === "EDNS" || code === "ENOTFOUND") return "correct SMTP_HOST, or this machine's DNS"
  if (isNoTls(code) && secure)
    return "it does not seem to begin with TLS: leave SMTP_TLS at required, which upgrades the connection by STARTTLS"
  if (code === "ETIMEDOUT" && !secure)
    return "it does not greet: if it expects TLS from the start, set SMTP_TLS=implicit; else check that no firewall blocks it"
  if (responseCode !== null) return "the mail server's log says why; SMTP_FROM must be an address that it may send from"
  return "correct SMTP_HOST and SMTP_PORT, and check that no firewall blocks the connection"
}

const probe = (smtp: SmtpSettings, to: Email | null) =>
  Effect.gen(function* () {
    const { createTransport } = yield* Effect.promise(() => import("nodemailer"))
    const transport = yield* Effect.acquireRelease(
      Effect.sync(() => createTransport(transportOptions(smtp))),
      (open) => Effect.sync(() => open.close())
    )
    yield* Effect.tryPromise({
      try: (): Promise<unknown> =>
        to === null
          ? transport.verify()
          : transport.sendMail({
              envelope: { from: smtp.from.address, to: [to] },
              from: { name: smtp.from.name ?? "", address: smtp.from.address },
              to: { address: to },
              subject: "A test mail of Coffer",
              text: "This mail was sent by coffer-server check: login codes can reach you.\n",
              headers: { "Auto-Submitted": "auto-generated" }
            }),
      catch: smtpFailure
    })
  }).pipe(Effect.scoped)

/** Connects to the mail server with TLS and logs in; sends a test mail if there is an address. */
export const mailCheck = ({ mail }: Settings, to: Email | null): Effect.Effect<Finding> => {
  if (mail._tag === "Log") {
    return Effect.succeed(
      to === null
        ? off("mail", "SMTP_HOST is log: login codes are printed in the server's log")
        : failed("mail", "SMTP_HOST is log: no mail is sent", "name a mail server in SMTP_HOST")
    )
  }
  const server = `${mail.host}:${mail.port}`
  return Effect.match(probe(mail, to), {
    onFailure: (failure) =>
      failed(
        "mail",
        `${server} refused: ${failure.code}${failure.responseCode === null ? "" : `, status ${failure.responseCode}`}`,
        nextOf(failure, mail)
      ),
    onSuccess: () =>
      ok(
        "mail",
        to === null
          ? `${server} responds${mail.username === null ? "" : " and accepts the login"}; --mail-to ADDRESS sends a test mail`
          : `${server} accepted a test mail to ${to}`
      )
  })
}

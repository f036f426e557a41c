import type { Email } from "@coffer/domain/base/Names"
import * as Effect from "effect/Effect"
import type * as Redacted from "effect/Redacted"
import { isIP } from "node:net"
import { host, integer, password, sender, text, word } from "./SettingFormats.js"
import { hostOf, isLoopback } from "./Loopback.js"
import { joined, satisfying, type Setting } from "./ConfigProblems.js"
import type { Reader } from "./Variables.js"

export interface SmtpSettings {
  readonly _tag: "Smtp"
  readonly host: string
  readonly port: number
  /** Null, like the password, for no authentication. */
  readonly username: string | null
  readonly password: Redacted.Redacted | null
  readonly from: { readonly name: string | null; readonly address: Email }
  /** Whether mail is not sent to a server without STARTTLS. */
  readonly requireTls: boolean
  /** Implicit TLS, as on port 465 (RFC 8314, section 3.3). */
  readonly secure: boolean
  /** The name that greets the mail server (RFC 5321, section 4.1.1.1). Many refuse an address, or a name without a dot. */
  readonly ehloName: string
}

export type MailSettings = { readonly _tag: "Log" } | SmtpSettings

const implicitTlsPort = 465

/** The host of an address, if mail servers take it as a name: with a dot, and no IP address. */
const hostNameIn = (url: string | null): string | null => {
  if (url === null || !URL.canParse(url)) return null
  const { hostname } = new URL(url)
  return hostname.includes(".") && isIP(hostOf(new URL(url))) === 0 ? hostname : null
}

const domainOf = (address: Email): string => address.slice(address.indexOf("@") + 1)

/** Reads the settings of the mail server. */
export const mail = (settings: Reader): Setting<MailSettings> => {
  const server = settings.required("SMTP_HOST", {
    ...host,
    rule: "must be the mail server's host name or IP address, or log"
  })
  const form = {
    port: settings.withDefault("SMTP_PORT", integer(1, 65_535), 587),
    username: settings.optional("SMTP_USERNAME", text),
    password: settings.secret("SMTP_PASSWORD", password),
    tls: settings.withDefault(
      "SMTP_TLS",
      word({ required: "required", implicit: "implicit", none: "none" } as const),
      "required" as const
    ),
    ehloName: settings.optional("SMTP_EHLO_NAME", host)
  }
  const name = settings.given("SMTP_HOST")
  if (name === null || name === "log") {
    return Effect.all(
      { host: server, ...form, from: settings.optional("SMTP_FROM", sender) },
      { mode: "validate" }
    ).pipe(Effect.mapBoth({ onFailure: joined, onSuccess: () => ({ _tag: "Log" }) as const }))
  }
  return Effect.all(
    {
      host: server,
      port: form.port,
      username: form.username.pipe(
        satisfying(
          "SMTP_USERNAME",
          "is required when SMTP_PASSWORD is set",
          (username) => username !== null || !settings.hasSecret("SMTP_PASSWORD")
        )
      ),
      password: form.password.pipe(
        satisfying(
          "SMTP_PASSWORD",
          "is required when SMTP_USERNAME is set",
          (password) => password !== null || settings.given("SMTP_USERNAME") === null
        )
      ),
      from: settings.required("SMTP_FROM", sender),
      tls: form.tls.pipe(
        satisfying(
          "SMTP_TLS",
          "must not be none with SMTP_PORT 465, where TLS begins with the connection",
          (tls) => tls !== "none" || settings.given("SMTP_PORT") !== String(implicitTlsPort)
        )
      ),
      ehloName: form.ehloName
    },
    { mode: "validate" }
  ).pipe(
    Effect.mapBoth({
      onFailure: joined,
      onSuccess: ({ ehloName, tls, ...smtp }) =>
        ({
          _tag: "Smtp",
          ...smtp,
          secure: tls === "implicit" || smtp.port === implicitTlsPort,
          requireTls: tls !== "none" && !isLoopback(smtp.host),
          ehloName: ehloName ?? hostNameIn(settings.given("SERVICE_PUBLIC_URL")) ?? domainOf(smtp.from.address)
        }) as const
    })
  )
}

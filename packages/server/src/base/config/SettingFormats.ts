import { isIP } from "node:net"
import { asciiDomain } from "@coffer/domain/base/DomainNames"
import { orgNameForm } from "@coffer/domain/base/NameForms"
import { Email, type OrgName } from "@coffer/domain/base/Names"
import { spanMillis } from "@coffer/domain/base/Span"
import * as Array from "effect/Array"
import * as LogLevel from "effect/LogLevel"
import * as Option from "effect/Option"
import * as Record from "effect/Record"
import * as Schema from "effect/Schema"

/** Parses the text of a variable. `rule` completes the error message: "must be …". */
export interface Format<A> {
  readonly rule: string
  readonly read: (text: string) => Option.Option<A>
}

const matching = (rule: string, holds: (text: string) => boolean): Format<string> => ({
  rule,
  read: Option.liftPredicate(holds)
})

const pattern = (rule: string, regex: RegExp): Format<string> => matching(rule, (text) => regex.test(text))

export const integer = (minimum: number, maximum: number): Format<number> => ({
  rule: `must be a whole number from ${minimum} to ${maximum}`,
  read: (text) =>
    Option.liftPredicate(
      Number(text),
      (value) => /^(0|[1-9][0-9]{0,9})$/.test(text) && value >= minimum && value <= maximum
    )
})

const minuteMillis = 60_000
const dayMillis = 86_400_000
/** A duration from one minute to some days, in milliseconds. */
export const duration = (maxDays: number): Format<number> => ({
  rule: `must be a duration such as 90m, 12h or 7d, of at most ${maxDays}d`,
  read: (text) =>
    Option.liftPredicate(spanMillis(text), (millis) => millis >= minuteMillis && millis <= maxDays * dayMillis)
})

export const word = <A>(words: Readonly<Record<string, A>>): Format<A> => ({
  rule: `must be ${Record.keys(words).join(" or ")}`,
  read: (text) => Record.get(words, text)
})

export const listOf = <A>(item: Format<A>): Format<ReadonlyArray<A>> => ({
  rule: item.rule,
  read: (text) =>
    Option.map(
      Option.all(
        text
          .split(",")
          .map((part) => part.trim())
          .filter((part) => part !== "")
          .map(item.read)
      ),
      Array.dedupe
    )
})

export const masterKey = pattern(
  "must be 64 hex characters (256 bits), such as `openssl rand -hex 32` prints",
  /^[0-9a-fA-F]{64}$/
)

export const text = pattern("must be text without control characters", /^\P{Cc}+$/u)

export const password = matching("must not be empty", (value) => value !== "")

export const host = matching(
  "must be a host name or an IP address, without a port",
  (value) =>
    isIP(value) !== 0 ||
    (value.length <= 253 && /^[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?(\.[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?)*$/i.test(value))
)

/** An address to listen at: an IPv6 address may have the brackets that URLs need. */
export const listeningHost: Format<string> = {
  ...host,
  read: (text) => host.read(/^\[[0-9a-f:.]+\]$/i.test(text) ? text.slice(1, -1) : text)
}

export const file = matching("must be the path of a file", (value) => value !== ":memory:" && !value.endsWith("/"))

export const directory = pattern("must be the path of a directory", /^\P{Cc}+$/u)

export const listeningPort = integer(0, 65_535)

export const email: Format<Email> = {
  rule: "must be an e-mail address such as ada@example.com",
  read: Schema.decodeOption(Email)
}

export const sender: Format<{ readonly name: string | null; readonly address: Email }> = {
  rule: "must be an address, or a name and an address: Coffer <coffer@example.com>",
  read: (value) => {
    const [, quoted, plain = "", address = value] = /^\s*(?:"([^"]*)"|([^"<>]*))\s*<([^<>]*)>\s*$/.exec(value) ?? []
    const name = (quoted ?? plain).trim()
    return /\p{Cc}/u.test(name)
      ? Option.none()
      : Option.map(email.read(address), (address) => ({ name: name === "" ? null : name, address }))
  }
}

const isHttp = (url: URL) =>
  (url.protocol === "http:" || url.protocol === "https:") && url.username === "" && url.password === ""

export const origin = matching(
  "must be a list of origins such as https://app.example.com: scheme, host and port alone, in lowercase, separated by commas",
  (value) => URL.canParse(value) && isHttp(new URL(value)) && new URL(value).origin === value
)

export const address = matching(
  "must be an http or https address, without credentials, query or fragment",
  (value) => URL.canParse(value) && isHttp(new URL(value)) && !/[?#\s]/.test(value)
)

const isContact = (value: string): boolean => {
  if (!/^[!-~]{1,500}$/.test(value)) return false
  if (value.startsWith("mailto:")) return Option.isSome(email.read(value.slice("mailto:".length)))
  if (value.startsWith("tel:")) return /^tel:\+?[0-9][0-9().-]*(;[!-~]+)?$/.test(value)
  return value.startsWith("https://") && URL.canParse(value) && isHttp(new URL(value))
}

export const contact = matching(
  "must be a list of contacts such as mailto:security@example.com, https://example.com/security or tel:+1-201-555-0123, separated by commas",
  isContact
)

export const domain: Format<string> = {
  rule: "must be a list of domains such as example.com, separated by commas",
  read: (value) =>
    Option.liftPredicate(asciiDomain(value) ?? value, (lower) =>
      /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?(\.[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?)*$/.test(lower)
    )
}

const wildcard = (value: string): Option.Option<string> =>
  value === "*" ? Option.some(value) : Option.map(domain.read(value.slice(2)), (name) => `*.${name}`)

export const clientHost: Format<string> = {
  rule: "must be *, or a list of hosts such as agents.example.com or *.example.com, separated by commas",
  read: (value) => (value === "*" || value.startsWith("*.") ? wildcard(value) : domain.read(value))
}

/** A domain whose people a directory may manage; of one organization, or of any (null). `*` is any domain. */
export interface ScimDomain {
  readonly org: OrgName | null
  readonly domain: string
}

export const scimDomain: Format<ScimDomain> = {
  rule: "must be a list of domains such as example.com, or of one organization acme:example.com, separated by commas; acme:*: any domain",
  read: (value) => {
    const [, org = null, name = ""] = /^(?:([^:]*):)?([^:]*)$/.exec(value) ?? []
    if (org !== null && !orgNameForm.is(org)) return Option.none()
    const found = name === "*" ? Option.some(name) : domain.read(name)
    return Option.map(found, (domain) => ({ org, domain }))
  }
}

export const bucket = pattern(
  "must be a bucket's name: 3 to 255 letters, digits, dots, underscores and hyphens",
  /^[A-Za-z0-9][A-Za-z0-9._-]{2,254}$/
)

export const prefix = matching(
  "must be at most 200 letters, digits and !-_.*'()/, without a slash first and without empty or dot segments",
  (value) => /^[A-Za-z0-9!_.*'()/-]{1,200}$/.test(value) && !/^\/|\/\/|(^|\/)\.{1,2}(\/|$)/.test(value)
)

export const otlpHeaders = pattern(
  "must be headers as name=value, separated by commas",
  /^[^\s=,]+=[^,\p{Cc}]*(,\s*[^\s=,]+=[^,\p{Cc}]*)*$/u
)

export const logLevels = {
  debug: LogLevel.Debug,
  info: LogLevel.Info,
  warn: LogLevel.Warning,
  error: LogLevel.Error
} as const

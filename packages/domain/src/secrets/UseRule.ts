import * as Schema from "effect/Schema"
import { UseRuleId } from "../base/Ids.js"
import { withMessage } from "../base/Message.js"
import { SecretKey } from "../base/Names.js"
import { Placement } from "./Placement.js"
import { UseMethod, useMethods } from "./UseMethod.js"
import { boundedArray, createdAt, field, optional, Timestamp, updatedAt } from "../base/Schemas.js"

const label = "[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?"
const hostPattern = new RegExp(`^(?:${label}\\.)*${label}(?::[1-9][0-9]{0,4})?$`)

const maxHost = 253
const longestPort = ":65535"

/** An exact name, with a port unless it is 443. Addresses are no names: their last part is a number. */
const isHost = (text: string): boolean => {
  if (text.length > maxHost + longestPort.length) return false
  const [name = "", port = "443"] = text.split(":")
  const isAddress = /(?:^|\.)(?:[0-9]+|0x[0-9a-f]*)$/.test(name)
  return hostPattern.test(text) && name.length <= maxHost && !isAddress && Number(port) <= 65_535
}

const hostMessage =
  "must be host names in lowercase such as api.stripe.com, with a port if it is not 443: no addresses, wildcards or schemes"
export const UseHost = Schema.String.pipe(Schema.filter(isHost, withMessage(hostMessage)))

/** Bytes that no UTF-8 has: some decoders take them for a longer spelling of ASCII, such as a dot or a slash. */
const overlong = /%(?:c[01]|e0%[89]|f0%8|f[5-9a-f])/i

/** Segments that a server may take for another path after it decodes it. */
export const isDeceptivePath = (path: string): boolean =>
  overlong.test(path) ||
  /%(?:2e|2f|5c|25|[01][0-9a-f]|7f)|\\|\/\//i.test(path) ||
  path.split("/").some((segment) => /^\.{1,2}(?:;|$)/.test(segment))

const isPath = (text: string): boolean =>
  text.length <= 500 && /^\/[!-~]*$/.test(text) && !/[?#*]/.test(text.replace(/\*$/, "")) && !isDeceptivePath(text)

const pathMessage =
  "must be paths such as /v1/refunds, exact or with one * at the end, without . and .. segments, encoded dots or slashes"
export const UsePath = Schema.String.pipe(Schema.filter(isPath, withMessage(pathMessage)))

const accountMessage =
  "must be names of service accounts, or e-mail addresses of people, of at most 254 characters each"
export const UseAccount = Schema.String.pipe(
  Schema.filter((text) => text.length >= 1 && text.length <= 254 && !/\p{Cc}/u.test(text), withMessage(accountMessage))
)

const listOf = <A, I>(item: Schema.Schema<A, I>, what: string, max: number, pattern?: string) =>
  boundedArray(item, {
    items: { type: "string", ...(pattern !== undefined && { pattern }) },
    max,
    text: `at most ${max} ${what}`,
    empty: `at least one of the ${what}`
  })

const Hosts = listOf(UseHost, "hosts", 20)
const Paths = listOf(UsePath, "paths", 50)
const Methods = listOf(UseMethod, "methods", useMethods.length)
const Accounts = listOf(UseAccount, "accounts", 50)

const amount = (max: number, what: string) => {
  const message = withMessage(`must be a whole number from 1 to ${max}`)
  return Schema.Int.annotations(message).pipe(Schema.between(1, max, { ...message, description: what }))
}

const PerMinute = amount(6_000, "how many requests a minute")
const PerDay = amount(1_000_000, "how many requests a day (UTC)")
/** A response that comes whole takes memory several times over while it is searched: it has at most this. */
export const maxKibOfWhole = 1_024
const MaxKib = amount(10_240, "how much of an answer is returned, in KiB")

export const responseKinds = ["status", "json", "text", "stream"] as const
const ResponseKind = Schema.Literal(...responseKinds).annotations({
  ...withMessage("must be text, json, status or stream"),
  description: "what is returned of the answer: all of it, only JSON, only the status, or all as it comes"
})
export const approvalKinds = ["none", "each"] as const
const ApprovalKind = Schema.Literal(...approvalKinds).annotations({
  ...withMessage("must be none or each"),
  description: "`each`: a person with admin approves every request"
})

const expiryMessage = withMessage("must be a date and time in UTC such as 2027-01-31T08:00:00Z, or null")
const RuleExpiry = Schema.NullOr(
  Schema.String.pipe(
    Schema.filter(
      (time) =>
        /^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]{1,3})?Z$/.test(time) &&
        !Number.isNaN(Date.parse(time)),
      expiryMessage
    )
  )
).annotations({
  ...expiryMessage,
  jsonSchema: { anyOf: [{ type: "string", format: "date-time" }, { type: "null" }] }
})

const methodsExample = ["GET", "POST"] as const
const pathsExample = ["/v1/refunds", "/v1/refunds/*"]

const texts = {
  hosts: "exact names of hosts, with a port if it is not 443",
  methods: "the methods; default: GET",
  paths: "the paths, exact or with one * at the end",
  place: "where the server puts the value",
  accounts: "who may use it: names of service accounts, or e-mail addresses of people",
  per_minute: "how many requests a minute; default: 30",
  per_day: "how many requests a day (UTC); default: 1000",
  response:
    "what is returned of the answer: text (all), json (only JSON), status, or stream (all, as it comes); default: text",
  max_kib:
    "how much of an answer is returned, in KiB, 1 to 10240, and of one that does not come as a stream at most 1024; default: 256",
  approval: "each: a person with admin approves every request; default: none",
  expires_at: "time when the rule ends, in UTC; null: never"
}

/** The fields of a use rule that limit what it allows. */
export const useRuleFields = {
  hosts: field(Hosts, texts.hosts, ["api.stripe.com"]),
  methods: field(Methods, texts.methods, methodsExample),
  paths: field(Paths, texts.paths, pathsExample),
  place: field(Placement, texts.place),
  accounts: field(Accounts, texts.accounts, ["agent"]),
  per_minute: field(PerMinute, texts.per_minute, 30),
  per_day: field(PerDay, texts.per_day, 1_000),
  response: field(ResponseKind, texts.response, "json"),
  max_kib: field(MaxKib, texts.max_kib, 256),
  approval: field(ApprovalKind, texts.approval, "none"),
  expires_at: field(RuleExpiry, texts.expires_at, null)
}

export const UseTerms = Schema.Struct(useRuleFields)
export type UseTerms = typeof UseTerms.Type

const optionalTerms = {
  methods: optional(Methods, texts.methods, methodsExample),
  per_minute: optional(PerMinute, texts.per_minute, 30),
  per_day: optional(PerDay, texts.per_day, 1_000),
  response: optional(ResponseKind, texts.response, "json"),
  max_kib: optional(MaxKib, texts.max_kib, 256),
  approval: optional(ApprovalKind, texts.approval, "none"),
  expires_at: optional(RuleExpiry, texts.expires_at, null)
}

export const newUseRule = {
  hosts: useRuleFields.hosts,
  paths: useRuleFields.paths,
  place: useRuleFields.place,
  accounts: useRuleFields.accounts,
  ...optionalTerms
}

export const changedUseRule = {
  hosts: optional(Hosts, texts.hosts, ["api.stripe.com"]),
  paths: optional(Paths, texts.paths, pathsExample),
  place: optional(Placement, texts.place),
  accounts: optional(Accounts, texts.accounts, ["agent"]),
  ...optionalTerms
}

export const defaultTerms = {
  methods: ["GET"],
  per_minute: 30,
  per_day: 1_000,
  response: "text",
  max_kib: 256,
  approval: "none",
  expires_at: null
} as const satisfies Partial<UseTerms>

export const UseRule = Schema.Struct({
  id: field(UseRuleId, "its id"),
  key: field(SecretKey, "the secret's key", SecretKey.make("STRIPE_KEY")),
  ...useRuleFields,
  // Possibly none: a rule outlives the accounts that it was for.
  accounts: field(Schema.Array(Schema.String), texts.accounts, ["agent"]),
  created_by: field(Schema.String, "the e-mail of the creator", "ada@example.com"),
  created_at: createdAt,
  updated_at: updatedAt
}).annotations({
  identifier: "UseRule",
  description: "the requests that the server makes with a secret for accounts that are never given its value"
})
export type UseRule = typeof UseRule.Type

/** A use rule of the caller, without values. */
export const Use = Schema.Struct({
  key: field(SecretKey, "the secret's key", SecretKey.make("STRIPE_KEY")),
  hosts: useRuleFields.hosts,
  methods: useRuleFields.methods,
  paths: useRuleFields.paths,
  response: useRuleFields.response,
  max_kib: useRuleFields.max_kib,
  approval: useRuleFields.approval,
  left_this_minute: field(Schema.Number, "how many requests are left this minute", 29),
  left_today: field(Schema.Number, "how many requests are left today (UTC)", 941),
  expires_at: field(Schema.NullOr(Timestamp), "time when the rule ends; null: never", null),
  // Earlier servers do not send it.
  place: optional(Placement, texts.place)
}).annotations({ identifier: "Use", description: "a use rule of the caller, with what is left of its budget" })
export type Use = typeof Use.Type

const pathFits = (pattern: string, path: string): boolean =>
  pattern.endsWith("*") ? path.startsWith(pattern.slice(0, -1)) : path === pattern

/** Whether a path fits one of the patterns. */
export const fitsPaths = (patterns: ReadonlyArray<string>, path: string): boolean =>
  patterns.some((pattern) => pathFits(pattern, path))

const includesAll = <A>(all: ReadonlyArray<A>, some: ReadonlyArray<A>): boolean =>
  some.every((item) => all.includes(item))

const samePlace = (one: Placement, other: Placement): boolean => {
  const sorted = (place: Placement) => JSON.stringify(Object.entries(place).sort(([a], [b]) => (a < b ? -1 : 1)))
  return sorted(one) === sorted(other)
}

/** Whether all that `narrow` allows is allowed by `wide`. */
export const covers = (wide: UseTerms, narrow: UseTerms): boolean =>
  includesAll(wide.hosts, narrow.hosts) &&
  includesAll(wide.methods, narrow.methods) &&
  includesAll(wide.accounts, narrow.accounts) &&
  narrow.paths.every((path) =>
    path.endsWith("*")
      ? wide.paths.some((pattern) => pattern.endsWith("*") && path.startsWith(pattern.slice(0, -1)))
      : fitsPaths(wide.paths, path)
  ) &&
  samePlace(wide.place, narrow.place) &&
  narrow.per_minute <= wide.per_minute &&
  narrow.per_day <= wide.per_day &&
  responseKinds.indexOf(narrow.response) <= responseKinds.indexOf(wide.response) &&
  narrow.max_kib <= wide.max_kib &&
  approvalKinds.indexOf(narrow.approval) >= approvalKinds.indexOf(wide.approval) &&
  (wide.expires_at === null || (narrow.expires_at !== null && narrow.expires_at <= wide.expires_at))

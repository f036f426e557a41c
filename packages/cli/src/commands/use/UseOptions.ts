import { SecretKey } from "@coffer/domain/base/Names"
import { defined } from "@coffer/domain/base/Defined"
import { Placement } from "@coffer/domain/secrets/Placement"
import { StoreField } from "@coffer/domain/secrets/StoreField"
import { UseMethod } from "@coffer/domain/secrets/UseMethod"
import { UseAccount, UseHost, UsePath, type UseTerms, useRuleFields } from "@coffer/domain/secrets/UseRule"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { WrongUsage } from "../../base/Failures.js"
import { option, repeatedOption } from "../../grammar/Fields.js"
import { flag } from "../../grammar/Specs.js"
import { endOf, lasting, oldEnd } from "../../grammar/Times.js"
import type { Codec } from "../../grammar/Specs.js"

const text = Schema.NonEmptyString

/** `name: text`, as a header is written. */
const header: Codec<readonly [name: string, text: string]> = {
  value: "text",
  description: "",
  decode: (name, given) => {
    const colon = given.indexOf(":")
    return colon > 0
      ? Either.right([given.slice(0, colon).trim().toLowerCase(), given.slice(colon + 1).trim()] as const)
      : Either.left(`${name} must be a header, as in 'authorization: Bearer {}'`)
  }
}

/** `service/region/access key id`. */
const aws: Codec<readonly [service: string, region: string, id: string]> = {
  value: "text",
  description: "",
  decode: (name, given) => {
    const [service, region, id, ...rest] = given.split("/")
    return service === undefined || region === undefined || id === undefined || rest.length > 0
      ? Either.left(`${name} must be SERVICE/REGION/ACCESS-KEY-ID, as in s3/eu-central-1/AKIDEXAMPLE`)
      : Either.right([service, region, id] as const)
  }
}

const isStore = Schema.is(StoreField)

/** `pointer=KEY`; a pointer may have an equals sign, a key has none. */
const storeField: Codec<StoreField> = {
  value: "text",
  description: "",
  decode: (name, given) => {
    const at = given.lastIndexOf("=")
    const field: unknown = { pointer: given.slice(0, at), key: given.slice(at + 1) }
    return at > 0 && isStore(field)
      ? Either.right(field)
      : Either.left(`${name} must be POINTER=KEY, as in /key/secret=STRIPE_KEY`)
  }
}

export const store = option(
  "store",
  storeField,
  "Store this field of the JSON answer as a new version of a secret, as /key/secret=STRIPE_KEY"
)

export const headers = repeatedOption(
  "header",
  header,
  "A header, as in 'content-type: text/plain'; may be given again"
)

export const secrets = repeatedOption("secret", SecretKey, "A secret to use; may be given again")

export const allowFields = {
  host: repeatedOption("host", UseHost, "A host, with a port if it is not 443; may be given again"),
  path: repeatedOption("path", UsePath, "A path, exact or with one * at the end; may be given again"),
  method: repeatedOption("method", UseMethod, "A method; may be given again; default: GET"),
  account: repeatedOption("account", UseAccount, "Who may use it: a service account or an e-mail; may be given again"),
  asHeader: option("as-header", header, "Put the value into a header, as in 'authorization: Bearer {}'"),
  asQuery: option("as-query", text, "Put the value into this parameter of the query"),
  asPassword: option("as-password-of", text, "Put the value into Basic authentication, as the password of this user"),
  asHmac: option("as-hmac", header, "Sign the body with HMAC-SHA256, as in 'x-signature: sha256={}'"),
  asAws: option("as-aws", aws, "Sign for AWS, as SERVICE/REGION/ACCESS-KEY-ID"),
  perMinute: option("per-minute", useRuleFields.per_minute.from),
  perDay: option("per-day", useRuleFields.per_day.from),
  response: option("response", useRuleFields.response.from),
  maxKib: option("max-kib", useRuleFields.max_kib.from),
  approval: option("approval", useRuleFields.approval.from),
  end: lasting("the rule holds", oldEnd("expires-at"))
}

export const editFields = {
  ...allowFields,
  method: repeatedOption("method", UseMethod, "A method; may be given again"),
  neverEnds: flag("never-ends", "Let the rule hold until it is removed")
}

export interface AllowOptions {
  readonly host: ReadonlyArray<UseTerms["hosts"][number]>
  readonly path: ReadonlyArray<UseTerms["paths"][number]>
  readonly method: ReadonlyArray<UseMethod>
  readonly account: ReadonlyArray<UseTerms["accounts"][number]>
  readonly perMinute: number | undefined
  readonly perDay: number | undefined
  readonly maxKib: number | undefined
  readonly response: UseTerms["response"] | undefined
  readonly approval: UseTerms["approval"] | undefined
  /** A duration or a moment. */
  readonly end: string | undefined
  readonly asHeader: readonly [string, string] | undefined
  readonly asQuery: string | undefined
  readonly asPassword: string | undefined
  readonly asHmac: readonly [string, string] | undefined
  readonly asAws: readonly [string, string, string] | undefined
}

/** The places that the options name. */
const placesOf = ({ asAws, asHeader, asHmac, asPassword, asQuery }: AllowOptions): ReadonlyArray<Placement> => [
  ...(asHeader === undefined ? [] : [{ in: "header" as const, name: asHeader[0], format: asHeader[1] }]),
  ...(asQuery === undefined ? [] : [{ in: "query" as const, name: asQuery }]),
  ...(asPassword === undefined ? [] : [{ in: "basic" as const, user: asPassword }]),
  ...(asHmac === undefined ? [] : [{ in: "hmac-sha256" as const, header: asHmac[0], format: asHmac[1] }]),
  ...(asAws === undefined
    ? []
    : [{ in: "aws-sigv4" as const, service: asAws[0], region: asAws[1], access_key_id: asAws[2] }])
]

/** Whether the options say where the value goes. */
export const isPlaced = (options: AllowOptions): boolean => placesOf(options).length > 0

/** The terms that the options name, but the place of the value. */
const termsWithoutEnd = ({ account, approval, host, maxKib, method, path, ...rest }: AllowOptions) => ({
  ...(host.length > 0 && { hosts: host }),
  ...(path.length > 0 && { paths: path }),
  ...(method.length > 0 && { methods: method }),
  ...(account.length > 0 && { accounts: account }),
  ...defined({ per_minute: rest.perMinute, per_day: rest.perDay, max_kib: maxKib }),
  ...defined({ response: rest.response, approval })
})

export const termsOf = Effect.fnUntraced(function* (options: AllowOptions) {
  const { end } = options
  return {
    ...termsWithoutEnd(options),
    ...(end !== undefined && { expires_at: new Date(yield* endOf(end)).toISOString() })
  }
})

const onePlace = "say where the value goes by one of --as-header, --as-query, --as-password-of, --as-hmac and --as-aws"

/** Returns the problem with an invalid combination of options. */
export const allowProblem = (options: AllowOptions): string | undefined => {
  const { account, host, path } = options
  if (host.length === 0 || path.length === 0 || account.length === 0) {
    return "give at least one --host, one --path and one --account"
  }
  return placesOf(options).length === 1 ? undefined : onePlace
}

/** The same for the change of a rule. */
export const editProblem = (options: AllowOptions & { readonly neverEnds: boolean }): string | undefined => {
  const places = placesOf(options).length
  if (places > 1) return onePlace
  if (options.neverEnds && options.end !== undefined) return "give one of --for, --until and --never-ends"
  const changes = Object.keys(termsWithoutEnd(options)).length + (options.end === undefined ? 0 : 1)
  return options.neverEnds || places === 1 || changes > 0
    ? undefined
    : "say what to change, such as --per-day 100: what is left out stays as it is"
}

/** The place of the value. The contract's own words say what is wrong with it. */
export const placeOf = (options: AllowOptions): Effect.Effect<UseTerms["place"], WrongUsage> =>
  Option.match(Option.fromNullable(placesOf(options)[0]), {
    onNone: () => new WrongUsage({ message: "say where the value goes" }),
    onSome: (place) =>
      Effect.mapError(
        Schema.decodeUnknown(Placement)(place),
        () =>
          new WrongUsage({
            message:
              "the place of the value is not sound: a format has {} once, and no header of the connection or the body is filled"
          })
      )
  })

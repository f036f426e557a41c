import type { Placement } from "@coffer/domain/secrets/Placement"
import { useHeaders } from "@coffer/domain/secrets/UseHeaders"
import { fitsPaths, type Use } from "@coffer/domain/secrets/UseRule"
import * as Either from "effect/Either"
import type { FindStandIns } from "./StandIns.js"

/** A request of the program, as it arrived at the proxy. */
export interface Arrived {
  readonly method: string
  /** With scheme and host. */
  readonly url: string
  /** Names in lowercase. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: Buffer
}

/** A use rule of this run. */
export interface ProxyRule extends Use {
  readonly place: Placement
}

/** A request that the server is asked to make. */
export interface Wanted {
  readonly method: string
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: Buffer
  readonly secrets: ReadonlyArray<string>
  /** Whether the response is passed on while it comes. */
  readonly isStream: boolean
}

/** The host of a URL as rules name it. */
export const hostOf = (url: string): string => {
  const { hostname, port, protocol } = new URL(url)
  const number = port === "" ? (protocol === "https:" ? "443" : "80") : port
  return number === "443" ? hostname : `${hostname}:${number}`
}

const headersOf = (place: Placement): ReadonlyArray<string> => {
  switch (place.in) {
    case "header":
      return [place.name]
    case "basic":
      return ["authorization"]
    case "hmac-sha256":
      return [place.header]
    case "aws-sigv4":
      return ["authorization", "x-amz-date", "x-amz-content-sha256", "x-amz-security-token"]
    case "query":
      return []
  }
}

const parametersOf = (place: Placement): ReadonlyArray<string> => (place.in === "query" ? [place.name] : [])

/** Bytes of base64 in an authorization are read too: Basic has the password there. */
const readable = (text: string): string => {
  const [, encoded] = /^basic\s+([A-Za-z0-9+/=]+)\s*$/i.exec(text) ?? []
  return encoded === undefined ? text : `${text} ${Buffer.from(encoded, "base64").toString("latin1")}`
}

const withoutParameters = (url: string, names: ReadonlySet<string>): string => {
  const at = url.indexOf("?")
  if (at < 0 || names.size === 0) return url
  const kept = url
    .slice(at + 1)
    .split("&")
    .filter((part) => ![...new URLSearchParams(part).keys()].some((name) => names.has(name.toLowerCase())))
  return kept.length === 0 ? url.slice(0, at) : `${url.slice(0, at)}?${kept.join("&")}`
}

const placeText = (place: Placement): string =>
  place.in === "query" ? `parameter ${place.name}` : `header ${headersOf(place)[0] ?? ""}`

/** The text of the places that a rule fills. */
const textAt = ({ headers, url }: Arrived, place: Placement): string => {
  const names = parametersOf(place)
  const query = [...new URL(url).searchParams].filter(
    ([name]) => names.includes(name.toLowerCase()) || names.includes(name)
  )
  return [...headersOf(place).map((name) => readable(headers[name] ?? "")), ...query.map(([, value]) => value)].join(
    "\n"
  )
}

const fits = ({ methods, paths }: ProxyRule, { method, url }: Arrived): boolean =>
  methods.some((each) => each === method) && fitsPaths(paths, new URL(url).pathname)

/**
 * The rules whose secrets a request asks for: those whose stand-ins it has in their places, or else the one secret that has a rule
 * for it. Where none fits, the server says which part is in no rule.
 */
const chosen = (
  rules: ReadonlyArray<ProxyRule>,
  arrived: Arrived,
  find: FindStandIns
): Either.Either<ReadonlyArray<ProxyRule>, string> => {
  const inPlace = rules.filter((rule) => find(textAt(arrived, rule.place)).includes(rule.key))
  if (inPlace.length > 0) {
    // Rules of one key may differ in their paths alone.
    const fitting = inPlace.filter((rule) => fits(rule, arrived))
    return Either.right(fitting.length > 0 ? fitting : inPlace)
  }
  const fitting = rules.filter((rule) => fits(rule, arrived))
  const candidates = fitting.length > 0 ? fitting : rules
  const keys = [...new Set(candidates.map(({ key }) => key))]
  return keys.length <= 1
    ? Either.right(candidates)
    : Either.left(
        `several secrets have rules for ${hostOf(arrived.url)}: send the stand-in of one, ${keys.join(" or ")}, where its rule puts it (${[...new Set(candidates.map(({ place }) => placeText(place)))].join(", ")})`
      )
}

/**
 * Makes the request for the server: with the places of the rules cleared, without the headers of the connection, and refused if a
 * stand-in is left anywhere.
 *
 * @param rules those for the host of the request
 */
export const wantedOf = (
  rules: ReadonlyArray<ProxyRule>,
  arrived: Arrived,
  find: FindStandIns
): Either.Either<Wanted, string> =>
  Either.gen(function* () {
    const used = yield* chosen(rules, arrived, find)
    const cleared = new Set(used.flatMap(({ place }) => headersOf(place)))
    const parameters = new Set(used.flatMap(({ place }) => parametersOf(place)).map((name) => name.toLowerCase()))
    const url = withoutParameters(arrived.url, parameters)
    const rest = Object.entries(arrived.headers).filter(([name]) => !cleared.has(name))
    const parts: ReadonlyArray<readonly [part: string, text: string]> = [
      ["the address", url],
      ...rest.map(([name, text]) => [`header ${name}`, readable(text)] as const),
      ["the body", arrived.body.toString("latin1")]
    ]
    for (const [part, text] of parts) {
      const [key] = find(text)
      if (key !== undefined) {
        return yield* Either.left(
          `${part} has the stand-in of ${key}, which no rule fills there: the server puts the value only where a rule says`
        )
      }
    }
    return {
      method: arrived.method,
      url,
      headers: Object.fromEntries(rest.filter(([name]) => useHeaders.has(name))),
      body: arrived.body,
      secrets: [...new Set(used.map(({ key }) => key))],
      isStream: used.every(({ response }) => response === "stream")
    }
  })

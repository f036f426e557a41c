import type { Endpoint, Place } from "../authorization/Contract.js"
import { parametersOf, pathOf } from "../authorization/Contract.js"
import { allowedMethods } from "@coffer/server/http/Routes"
import type { CallOptions } from "../support/Program.js"

export interface Bad {
  readonly what: string
  readonly method: string
  readonly path: string
  readonly options: CallOptions
}

const fields = ["value", "email", "code", "name", "role", "set", "delete", "keys", "from", "version", "versions"]

/** Headers that a request may well carry, each with what it should not have in it. None of them is of a sound form. */
const headersWith = (text: string): Readonly<Record<string, string>> => ({
  "user-agent": `agent/${text}`,
  cookie: `session=${text}`,
  referer: `https://elsewhere.example/${text}`,
  origin: `https://${text}.example`,
  "x-real-ip": text,
  "x-forwarded-for": `${text}, 192.0.2.1`,
  "x-coffer-client": `~${text}`,
  "x-request-id": `~ ${text}`,
  "if-match": `"${text}"`,
  "if-none-match": `"${text}"`,
  traceparent: `00-${text}-${text}-01`,
  tracestate: `coffer=${text}`,
  baggage: `value=${text}`,
  b3: `${text}-${text}-1`
})

const strange = (path: string): string =>
  ["PUT", "POST", "PATCH", "DELETE"].find((method) => !allowedMethods(path).includes(method)) ?? "PROPFIND"

/**
 * The ways to send a call something that it does not take, each with a word that is to go nowhere: in the body, the path,
 * the query, the headers and the credential.
 */
export const badRequests = (endpoint: Endpoint, place: Place, text: string, token: string): ReadonlyArray<Bad> => {
  const { method } = endpoint
  const path = pathOf(endpoint, place)
  const wrong = `~${text}~"\\ü`
  const everyField = <A>(value: A): Readonly<Record<string, A>> =>
    Object.fromEntries(fields.map((field) => [field, value]))
  const bodies: ReadonlyArray<readonly [what: string, options: CallOptions]> = [
    ["malformed JSON", { raw: `{"value":"${text}","email":"${text}` }],
    ["text for an object", { body: wrong }],
    ["a list", { body: [wrong, { value: wrong }] }],
    ["wrong types", { body: everyField({ [text]: wrong }) }],
    ["lists of wrong things", { body: everyField([[wrong], { value: wrong }]) }],
    ["wrong texts", { body: { ...everyField(wrong), value: { is: wrong } } }],
    ["an unknown field", { body: { [text]: wrong, [wrong]: text } }],
    ["too long", { body: everyField(text.repeat(3_000)) }],
    ["over the limit", { body: { value: text.repeat(60_000) } }],
    ["another type", { raw: `value=${text}`, headers: { "content-type": "application/x-www-form-urlencoded" } }],
    ["not UTF-8", { raw: Buffer.concat([Buffer.from(`{"value":"${text}`), Buffer.from([0xff, 0x22, 0x7d])]) }],
    ["half a surrogate pair", { raw: `{"value":"${text}\\ud800"}` }]
  ]
  return [
    ...(method === "GET"
      ? []
      : bodies.map(([what, options]) => ({ what, method, path, options: { token, ...options } }))),
    ...parametersOf(endpoint).map((name) => ({
      what: `a wrong ${name}`,
      method,
      path: pathOf(endpoint, { ...place, [name]: wrong }),
      options: { token, ...(method !== "GET" && { body: {} }) }
    })),
    {
      what: "a wrong query",
      method,
      path: `${path}?${new URLSearchParams({ ...everyField(wrong), with: wrong, keys: wrong, limit: wrong, after: wrong, [text]: text }).toString()}`,
      options: { token, ...(method !== "GET" && { body: { [text]: text } }) }
    },
    { what: "a wrong path", method, path: `${path}/${encodeURIComponent(wrong)}/${text}`, options: { token } },
    { what: "a wrong method", method: strange(path), path, options: { token, body: { value: text } } },
    {
      what: "headers",
      method,
      path: `${path}?${text}`,
      options: { token, headers: headersWith(text), ...(method !== "GET" && { body: { [text]: text } }) }
    },
    { what: "a wrong token", method, path, options: { token: text } },
    { what: "a wrong key", method, path, options: { headers: { "x-api-key": `svc_sa_${text}` } } },
    { what: "another scheme", method, path, options: { headers: { authorization: `Basic ${btoa(`ada:${text}`)}` } } }
  ]
}

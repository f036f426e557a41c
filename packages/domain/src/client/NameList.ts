import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import type * as Scope from "effect/Scope"
import { envNameForm, orgNameForm, projectNameForm, secretKeyForm } from "../NameForms.js"
import { classifyResponse } from "./ClassifyResponse.js"
import { type ServerUnreachable, UnexpectedResponse, type UnknownApiError } from "./ClientErrors.js"
import { serverUnreachable } from "./ConnectionProblem.js"
import type { Credential } from "./Credentials.js"
import type { Send } from "./NodeRequest.js"
import { isArray, parseJson } from "./ParseJson.js"
import { requestHeaders } from "./RequestHeaders.js"
import type { ServerUrl } from "./ServerUrl.js"

/** What the server lists, from the outside in. The lists of secrets hold keys without values. */
const levels = [
  { segment: "orgs", field: "name", form: orgNameForm },
  { segment: "projects", field: "name", form: projectNameForm },
  { segment: "envs", field: "name", form: envNameForm },
  { segment: "secrets", field: "key", form: secretKeyForm }
] as const

/** The names of an organization, a project in it and an environment in that, or the first of them, or none. */
export type NamePath = ReadonlyArray<string>

export interface NameListRequest {
  readonly server: ServerUrl
  readonly credential: Credential
  readonly version: string
  /** Where to look: organizations for `[]`, the keys of an environment for three names. */
  readonly path: NamePath
}

/** The names in a list of texts. What breaks the form of a name is left out: no shell gets what only a server wrote. */
export const namesIn = (path: NamePath, texts: ReadonlyArray<unknown>): ReadonlyArray<string> => {
  const form = levels[path.length]?.form
  return texts.filter((text) => typeof text === "string").filter((text) => form?.is(text) === true)
}

const pathOf = (path: NamePath) =>
  levels
    .slice(0, path.length + 1)
    .map(({ segment }, index) => [segment, ...path.slice(index, index + 1)].join("/"))
    .join("/")

/**
 * Reads the names of organizations, projects, environments or secrets, once, without the contract and its schemas, which
 * load too slowly for a shell that waits for a completion.
 */
export const readNames = Effect.fnUntraced(function* (
  send: Send,
  { credential, path, server, version }: NameListRequest
): Effect.fn.Return<ReadonlyArray<string>, ServerUnreachable | UnexpectedResponse | UnknownApiError, Scope.Scope> {
  const { base } = server
  const url = new URL(`${base}/api/${pathOf(path)}`)
  const response = yield* send({ url, method: "GET", headers: requestHeaders(credential, version) }).pipe(
    Effect.mapError((failed) => serverUnreachable(base, failed))
  )
  const { headers, status } = response
  const body = response.body.toString("utf8")
  if (status !== 200) return yield* classifyResponse({ url: base, status, location: headers.location, body })
  const found = Option.getOrUndefined(parseJson(body))
  if (!Predicate.hasProperty(found, "data") || !isArray(found.data)) {
    return yield* new UnexpectedResponse({ url: base, status })
  }
  const field = levels[path.length]?.field ?? "name"
  return namesIn(
    path,
    found.data.map((item) => (Predicate.hasProperty(item, field) ? item[field] : undefined))
  )
})

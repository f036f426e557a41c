import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import { envNameForm, orgNameForm, projectNameForm, secretKeyForm } from "@coffer/domain/NameForms"
import { UnexpectedResponse } from "./ClientErrors.js"
import type { Exchange, ExchangeFailure } from "./Exchange.js"
import { isArray, parseJson } from "./ParseJson.js"
import { textOf } from "./Send.js"

/** What the server lists, from the outside in. The lists of secrets hold keys without values. */
const levels = [
  { segment: "orgs", field: "name", form: orgNameForm },
  { segment: "projects", field: "name", form: projectNameForm },
  { segment: "envs", field: "name", form: envNameForm },
  { segment: "secrets", field: "key", form: secretKeyForm }
] as const

/** The names of an organization, a project in it and an environment in that, or the first of them, or none. */
export type NamePath = ReadonlyArray<string>

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
  exchange: Exchange,
  path: NamePath
): Effect.fn.Return<ReadonlyArray<string>, ExchangeFailure> {
  const { once, url } = exchange
  const response = yield* once({ url: new URL(`${url}/api/${pathOf(path)}`), method: "GET" })
  const found = Option.getOrUndefined(parseJson(textOf(response)))
  if (!Predicate.hasProperty(found, "data") || !isArray(found.data)) {
    return yield* new UnexpectedResponse({ url, status: response.status })
  }
  const field = levels[path.length]?.field ?? "name"
  return namesIn(
    path,
    found.data.map((item) => (Predicate.hasProperty(item, field) ? item[field] : undefined))
  )
})

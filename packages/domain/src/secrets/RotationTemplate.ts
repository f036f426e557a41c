import * as Either from "effect/Either"

/** The texts that a rotation writes, with `{user}` and `{password}`, escaped for where they stand. */

/** How a template holds what is put into it. */
type Place = "alone" | "url" | "json" | "text"

const slot = /\{(user|password)\}/g
const plain = /^[A-Za-z0-9._-]*$/

const fill = (template: string, user: string, password: string, escape: (text: string) => string): string =>
  template.replace(slot, (_whole, name: string) => escape(name === "user" ? user : password))

const inJson = (text: string): string => JSON.stringify(text).slice(1, -1)

/** Percent-encodes all but the unreserved characters of RFC 3986. */
const inUrl = (text: string): string =>
  encodeURIComponent(text).replace(/[!'()*]/g, (one) => `%${one.charCodeAt(0).toString(16).toUpperCase()}`)

/** A text that JSON must escape, so that a slot outside of a string does not parse. */
const probe = 'x"\\'

const isJson = (template: string): boolean =>
  /^\s*[[{"]/.test(template) && Either.isRight(Either.try(() => void JSON.parse(fill(template, probe, probe, inJson))))

const placeIn = (template: string): Place => {
  if (/^\{(?:user|password)\}$/.test(template)) return "alone"
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(template)) return "url"
  return isJson(template) ? "json" : "text"
}

/** The text of a template. Call it only with what `templateProblem` accepts. */
export const filled = (template: string, user: string, password: string): string => {
  const place = placeIn(template)
  return fill(template, user, password, place === "url" ? inUrl : place === "json" ? inJson : (text) => text)
}

/** The problem with a template for users and an alphabet; null if each text fits. */
export const templateProblem = (
  template: string,
  { alphabet, users }: { readonly users: ReadonlyArray<string>; readonly alphabet: string }
): string | null => {
  const place = placeIn(template)
  const unknown = place === "json" ? undefined : template.replace(slot, "").match(/\{[^{}]*\}?/)?.[0]
  if (unknown !== undefined) return `has ${JSON.stringify(unknown)}: only {user} and {password} are known`
  if (place !== "text" || !/\{(?:user|password)\}/.test(template)) return null
  return [alphabet, ...users].every((text) => plain.test(text))
    ? null
    : "is neither a URL nor JSON, so nothing can be escaped in it: let users and alphabet have only letters, digits, dots, hyphens and underscores"
}

/** The problem with all templates together; null if they write what logs in. */
export const writesProblem = (
  writes: Readonly<Record<string, string>>,
  terms: { readonly users: ReadonlyArray<string>; readonly alphabet: string }
): string | null => {
  for (const [key, template] of Object.entries(writes)) {
    const problem = templateProblem(template, terms)
    if (problem !== null) return `${key} ${problem}`
  }
  const all = Object.values(writes).join("\n")
  if (!all.includes("{password}")) return "no template has {password}"
  return terms.users.length > 1 && !all.includes("{user}")
    ? "with two users, one template must have {user}: programs must learn which of them it is"
    : null
}

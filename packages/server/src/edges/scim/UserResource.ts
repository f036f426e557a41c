import { Email } from "@coffer/domain/base/Names"
import { roles as allRoles } from "@coffer/domain/directory/Member"
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import type { Person, WantedPerson } from "../../directory/scim/ScimPeople.js"
import { PersonAttributes } from "../../directory/scim/ScimPeople.js"
import { invalid, type ScimRefusal } from "../../http/scim/ScimErrors.js"
import { givenRoles, type Resource, userAttributes, userSchema } from "./ScimAttributes.js"
import { isObject, readObject } from "./ScimValues.js"

/** The role that a directory reads: a member's, a plain one only if the directory gave a role; else the one that it gave. */
const roleOf = ({ attributes, role }: Person) => {
  if (role === "member") return attributes.role === undefined ? undefined : role
  return role ?? attributes.role
}

/** The attributes of a person that a directory may change. */
export const personPart = (person: Person): Resource => {
  const { role: _, ...attributes } = person.attributes
  const role = roleOf(person)
  return {
    ...attributes,
    ...(person.externalId !== null && { externalId: person.externalId }),
    active: person.role !== null,
    ...(role !== undefined && { roles: [{ value: role }] })
  }
}

/** The attributes after a change of some: roles that were all removed leave a plain member. */
export const afterPatch = (person: Person, patched: Resource): Resource =>
  "roles" in personPart(person) && !("roles" in patched) ? { ...patched, roles: [] } : patched

export const userResource = (person: Person, base: string): Resource => ({
  schemas: [userSchema],
  id: person.id,
  ...personPart(person),
  meta: {
    resourceType: "User",
    created: person.createdAt,
    lastModified: person.updatedAt,
    location: `${base}/Users/${person.id}`,
    version: `W/${person.etag}`
  }
})

const readEmail = Schema.decodeUnknownOption(Email)
const isAttributes = Schema.is(PersonAttributes)

const elements = (value: unknown): ReadonlyArray<Resource> => (Array.isArray(value) ? value.filter(isObject) : [])

const textAt = (object: Resource | undefined, name: string): string | undefined => {
  const value = object?.[name]
  return Predicate.isString(value) && value !== "" ? value : undefined
}

/** The address of the member: the primary one, else that of work, else the first, else the name. */
const addressIn = (read: Resource): string => {
  const emails = elements(read["emails"]).filter((email) => textAt(email, "value") !== undefined)
  const chosen =
    emails.find((email) => email["primary"] === true) ??
    emails.find((email) => textAt(email, "type")?.toLowerCase() === "work") ??
    emails[0]
  return textAt(chosen, "value") ?? textAt(read, "userName") ?? ""
}

/** The highest role of those given; undefined if none was given. An owner stays one, whatever a directory says. */
const roleIn = (roles: unknown, before: Person | null): Effect.Effect<PersonAttributes["role"], ScimRefusal> => {
  const words = elements(roles).map((role) => (textAt(role, "value") ?? "").trim().toLowerCase())
  if (words.includes("owner") && before?.role === "owner") return Effect.succeed(before.attributes.role)
  const unknown = words.find((word) => !givenRoles.some((role) => role === word))
  if (unknown !== undefined) {
    return invalid(
      "invalidValue",
      allRoles.some((role) => role === unknown)
        ? `roles: ${unknown} is given by owners, not by a directory`
        : `roles: must be ${givenRoles.join(", ")}`
    )
  }
  return Effect.succeed(givenRoles.findLast((role) => words.includes(role)))
}

const maxElements = 20

/** Reads what a directory wants of a person. */
export const wantedPerson = (body: unknown, before: Person | null): Effect.Effect<WantedPerson, ScimRefusal> =>
  Effect.gen(function* () {
    if (!isObject(body)) return yield* invalid("invalidSyntax", "the body: must be a JSON object")
    const { active, externalId, roles, ...attributes } = yield* readObject(
      [...userAttributes, { name: "externalId", type: "string", description: "" }],
      body
    )
    const userName = textAt(attributes, "userName")
    if (userName === undefined) return yield* invalid("invalidValue", "userName: is required")
    if (elements(attributes["emails"]).length > maxElements || elements(roles).length > maxElements) {
      return yield* invalid("invalidValue", `emails, roles: at most ${maxElements} elements`)
    }
    const kept = {
      ...attributes,
      emails: elements(attributes["emails"]).filter((email) => textAt(email, "value") !== undefined)
    }
    const email = readEmail(addressIn(kept.emails.length > 0 ? kept : { userName }))
    if (email._tag === "None") {
      return yield* invalid(
        "invalidValue",
        "emails: the address of the member must be an e-mail address, or else userName"
      )
    }
    const { emails, ...named } = kept
    const given = roles === undefined ? before?.attributes.role : yield* roleIn(roles, before)
    const others = { ...named, ...(given !== undefined && { role: given }) }
    const shown = before === null ? undefined : roleOf(before)
    // A role that the directory reads already is no change: what was given by hand, or kept, goes before it.
    const isChanged = roles !== undefined && given !== shown
    const wanted: unknown = emails.length > 0 ? { ...others, emails } : others
    if (!isAttributes(wanted)) return yield* invalid("invalidValue", "the body: an attribute has the wrong type")
    return {
      attributes: wanted,
      email: email.value,
      externalId: Predicate.isString(externalId) ? externalId : null,
      active: Predicate.isBoolean(active) ? active : before === null || before.role !== null,
      role: isChanged ? (given ?? "member") : undefined
    }
  })

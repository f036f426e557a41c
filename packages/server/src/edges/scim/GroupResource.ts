import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import type { DirectoryGroup, ListedMember, WantedGroup } from "../../directory/scim/ScimGroups.js"
import { invalid, type ScimRefusal } from "../../http/scim/ScimErrors.js"
import { groupAttributes, groupSchema, type Resource } from "./ScimAttributes.js"
import { isObject, readObject } from "./ScimValues.js"

/** The attributes of a group that a directory may change. */
export const groupPart = (
  { displayName, externalId }: DirectoryGroup,
  members: ReadonlyArray<ListedMember>,
  base = ""
): Resource => ({
  displayName,
  ...(externalId !== null && { externalId }),
  ...(members.length > 0 && {
    members: members.map(({ id }) => ({ value: id, $ref: `${base}/Users/${id}`, type: "User" }))
  })
})

export const groupResource = (group: DirectoryGroup, members: ReadonlyArray<ListedMember>, base: string): Resource => ({
  schemas: [groupSchema],
  id: group.id,
  ...groupPart(group, members, base),
  meta: {
    resourceType: "Group",
    created: group.createdAt,
    lastModified: group.updatedAt,
    location: `${base}/Groups/${group.id}`,
    version: `W/${group.etag}`
  }
})

/** The id of a member: by its value, or by the end of its address. */
const idOf = (element: unknown): string => {
  if (!isObject(element)) return ""
  const { $ref, value } = element
  if (Predicate.isString(value) && value !== "") return value
  return Predicate.isString($ref) ? $ref.slice($ref.lastIndexOf("/") + 1) : ""
}

/** Reads what a directory wants of a group. */
export const wantedGroup = (body: unknown): Effect.Effect<WantedGroup, ScimRefusal> =>
  Effect.gen(function* () {
    if (!isObject(body)) return yield* invalid("invalidSyntax", "the body: must be a JSON object")
    const { displayName, externalId, members } = yield* readObject(
      [...groupAttributes, { name: "externalId", type: "string", description: "" }],
      body
    )
    if (!Predicate.isString(displayName) || displayName === "") {
      return yield* invalid("invalidValue", "displayName: is required")
    }
    return {
      displayName,
      externalId: Predicate.isString(externalId) ? externalId : null,
      members: [...new Set((Array.isArray(members) ? members : []).map(idOf))]
    }
  })

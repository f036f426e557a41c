import { Forbidden, NotFound } from "@coffer/domain/errors/Errors"
import * as HttpApiBuilder from "@effect/platform/HttpApiBuilder"
import * as HttpRouter from "@effect/platform/HttpRouter"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { RateLimits } from "../../database/limits/RateLimits.js"
import { ScimGroups } from "../../directory/scim/ScimGroups.js"
import { ScimPeople } from "../../directory/scim/ScimPeople.js"
import { ScimTokens } from "../../directory/scim/ScimTokens.js"
import { groupResource } from "./GroupResource.js"
import { GroupRoutesLive } from "./GroupRoutes.js"
import type { Resource } from "./ScimAttributes.js"
import { at, type Call, json, largestList, makeScimCalls, membersOfPage, ofAll } from "./ScimCalls.js"
import { resourceTypes, schemas, serviceProviderConfig } from "./ScimDescriptions.js"
import { listResponse, projected, readQuery, returns, selected } from "./ScimLists.js"
import { userResource } from "./UserResource.js"
import { UserRoutesLive } from "./UserRoutes.js"

/** Descriptions, and the search of all that a directory has. */
const DescriptionsLive = HttpApiBuilder.Router.use((router) =>
  Effect.gen(function* () {
    const people = yield* ScimPeople
    const groups = yield* ScimGroups
    const { answered, searched } = yield* makeScimCalls

    /** Finds users and groups together, users first. */
    const listAll = (found: Call, parameter: Call["parameter"]) =>
      Effect.gen(function* () {
        const query = yield* readQuery(parameter, ofAll)
        yield* found.request.memory.begin(largestList)
        const users = yield* people.all(found.token)
        const all = [
          ...users.map((person) => ({ resource: () => userResource(person, found.base), group: null })),
          ...(yield* groups.all(found.token)).map((one) => ({
            resource: () => groupResource(one, [], found.base),
            group: one
          }))
        ]
        const meant = yield* selected(all, ({ resource }) => resource(), query, ofAll)
        const hasMembers = returns(query.projection, "members")
        const page: Array<Resource> = []
        let size = 0
        for (const { group: one, resource } of meant.slice(query.skipped, query.skipped + query.count)) {
          if (size > membersOfPage) break
          const members = one === null || !hasMembers ? [] : yield* groups.listed(one.id)
          size += members.length
          page.push(projected(one === null ? resource() : groupResource(one, members, found.base), query.projection))
        }
        return json(listResponse(page, meant.length, query.skipped))
      })

    const described = (make: (found: Call) => Resource) =>
      answered((found) =>
        found.parameter("filter") === undefined
          ? Effect.succeed(json(make(found)))
          : new Forbidden({ message: "a description is not filtered" })
      )

    const oneOf = (list: (base: string) => ReadonlyArray<Resource>) =>
      answered((found) =>
        Effect.flatMap(HttpRouter.params, ({ name }) => {
          const resource = list(found.base).find(({ id }) => id === name)
          return resource === undefined
            ? new NotFound({ message: "there is no description of that name" })
            : Effect.succeed(json(resource))
        })
      )

    yield* router.get(
      `${at}/ServiceProviderConfig`,
      described(({ base, origin }) => serviceProviderConfig(base, origin))
    )
    yield* router.get(
      `${at}/ResourceTypes`,
      described(({ base }) => listResponse(resourceTypes(base), 2, 0))
    )
    yield* router.get(`${at}/ResourceTypes/:name`, oneOf(resourceTypes))
    yield* router.get(
      `${at}/Schemas`,
      described(({ base }) => listResponse(schemas(base), 2, 0))
    )
    yield* router.get(`${at}/Schemas/:name`, oneOf(schemas))

    yield* router.post(`${at}/.search`, searched(listAll))
  })
)

/** The endpoints for directories, below each organization that has a token for one. */
export const ScimLive = Layer.mergeAll(DescriptionsLive, UserRoutesLive, GroupRoutesLive).pipe(
  Layer.provide([ScimTokens.Default, ScimPeople.Default, ScimGroups.Default, RateLimits.Default])
)

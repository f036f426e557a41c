import * as HttpApiBuilder from "@effect/platform/HttpApiBuilder"
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import * as Effect from "effect/Effect"
import type { Transaction } from "../../database/Database.js"
import { type DirectoryGroup, type ListedMember, ScimGroups } from "../../directory/scim/ScimGroups.js"
import { groupPart, groupResource, wantedGroup } from "./GroupResource.js"
import type { Resource } from "./ScimAttributes.js"
import { at, type Call, json, largestList, makeScimCalls, membersOfPage, ofGroups } from "./ScimCalls.js"
import { listResponse, projected, readProjection, readQuery, returns, selected } from "./ScimLists.js"
import { patched } from "./ScimPatch.js"

const whole = <A, E>(made: Effect.Effect<A, E, Transaction>) =>
  Effect.map(made, (value) => ({ hasMore: false as const, value }))

/** The groups of an organization that its directory has, for it. */
export const GroupRoutesLive = HttpApiBuilder.Router.use((router) =>
  Effect.gen(function* () {
    const groups = yield* ScimGroups
    const { answered, bodyOf, changing, searched, single } = yield* makeScimCalls

    const group = (found: Call, one: DirectoryGroup, status = 200) =>
      Effect.gen(function* () {
        const projection = yield* readProjection(found.parameter, ofGroups)
        const members = returns(projection, "members") ? yield* groups.listed(one.id) : []
        return yield* single(found, groupResource(one, members, found.base), one.etag, ofGroups, status)
      })

    const listGroups = (found: Call, parameter: Call["parameter"]) =>
      Effect.gen(function* () {
        const query = yield* readQuery(parameter, ofGroups)
        const hasMembers = returns(query.projection, "members")
        const names = JSON.stringify(query.filter ?? "")
        const filtersMembers = names.includes('"members"')
        yield* found.request.memory.begin(largestList)
        const all: ReadonlyArray<readonly [DirectoryGroup, ReadonlyArray<ListedMember>]> = yield* Effect.forEach(
          yield* groups.all(found.token),
          (one) =>
            Effect.map(
              filtersMembers ? groups.listed(one.id) : Effect.succeed([]),
              (members) => [one, members] as const
            )
        )
        const meant = yield* selected(all, ([one, members]) => groupResource(one, members, ""), query, ofGroups)
        const page: Array<Resource> = []
        let size = 0
        for (const [one, known] of meant.slice(query.skipped, query.skipped + query.count)) {
          if (size > membersOfPage) break
          const members = !hasMembers ? [] : filtersMembers ? known : yield* groups.listed(one.id)
          size += members.length
          page.push(projected(groupResource(one, members, found.base), query.projection))
        }
        return json(listResponse(page, meant.length, query.skipped))
      })

    yield* router.get(
      `${at}/Groups`,
      answered((found) => listGroups(found, found.parameter))
    )
    yield* router.post(`${at}/Groups/.search`, searched(listGroups))
    yield* router.post(
      `${at}/Groups`,
      answered((found) =>
        Effect.gen(function* () {
          const wanted = yield* wantedGroup(yield* bodyOf(found))
          const { value } = yield* changing(found, (token) => whole(groups.create(token, wanted)))
          return yield* group(found, value, 201)
        })
      )
    )
    yield* router.get(
      `${at}/Groups/:resource_id`,
      answered((found) => Effect.flatMap(groups.get(found.token, found.id), (one) => group(found, one)))
    )
    yield* router.put(
      `${at}/Groups/:resource_id`,
      answered((found) =>
        Effect.gen(function* () {
          const wanted = yield* wantedGroup(yield* bodyOf(found))
          const { value } = yield* changing(found, (token) =>
            whole(groups.update(token, found.id, found.ifMatch, () => Effect.succeed(wanted)))
          )
          return yield* group(found, value)
        })
      )
    )
    yield* router.patch(
      `${at}/Groups/:resource_id`,
      answered((found) =>
        Effect.gen(function* () {
          const body = yield* bodyOf(found)
          const { value } = yield* changing(found, (token) =>
            whole(
              groups.update(token, found.id, found.ifMatch, (one, members) =>
                Effect.flatMap(patched(groupPart(one, members), body, ofGroups), wantedGroup)
              )
            )
          )
          return found.parameter("attributes") === undefined
            ? HttpServerResponse.empty({ status: 204, headers: { etag: `W/${value.etag}` } })
            : yield* group(found, value)
        })
      )
    )
    yield* router.del(
      `${at}/Groups/:resource_id`,
      answered((found) =>
        Effect.as(
          changing(found, (token) => whole(groups.remove(token, found.id, found.ifMatch))),
          HttpServerResponse.empty({ status: 204 })
        )
      )
    )
  })
)

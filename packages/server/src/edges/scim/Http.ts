import { Forbidden, NotFound } from "@coffer/domain/errors/Errors"
import * as HttpApiBuilder from "@effect/platform/HttpApiBuilder"
import * as HttpRouter from "@effect/platform/HttpRouter"
import * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { ServerConfig } from "../../base/Config.js"
import { sharedBounds } from "../../base/SharedBounds.js"
import { Database, type Transaction } from "../../database/Database.js"
import { inSteps, type Step } from "../../database/InSteps.js"
import { RateLimits } from "../../database/limits/RateLimits.js"
import { orgScope } from "../../database/Scopes.js"
import { makeDepartures } from "../../directory/members/Departures.js"
import { OutdatedRecord } from "../../directory/scim/OutdatedRecord.js"
import { type DirectoryGroup, type ListedMember, ScimGroups } from "../../directory/scim/ScimGroups.js"
import { type Person, type PersonChange, ScimPeople, StillNeeded } from "../../directory/scim/ScimPeople.js"
import { type DirectoryToken, ScimTokens } from "../../directory/scim/ScimTokens.js"
import { makeStillNeededNotices } from "../../directory/scim/StillNeededNotices.js"
import { readBody } from "../../http/Body.js"
import { namesETag } from "../../http/ETag.js"
import { errorResponse } from "../../http/Failure.js"
import { makeMemoryBudget } from "../../http/MemoryBudget.js"
import { NodeRequest } from "../../http/NodeRequest.js"
import { refusedResponse, scimError, scimMediaType, scimPath, ScimRefusal } from "../../http/scim/ScimErrors.js"
import { groupPart, groupResource, wantedGroup } from "./GroupResource.js"
import { commonAttributes, groupAttributes, type Resource, userAttributes } from "./ScimAttributes.js"
import { resourceTypes, schemas, serviceProviderConfig } from "./ScimDescriptions.js"
import { onlyEquals } from "./ScimFilter.js"
import { listResponse, projected, type Query, readProjection, readQuery, returns, selected } from "./ScimLists.js"
import { patched } from "./ScimPatch.js"
import { afterPatch, personPart, userResource, wantedPerson } from "./UserResource.js"
import { isObject } from "./ScimValues.js"

/** A group of 2,000 members with their addresses is about half of it. */
const bodyLimit = 1024 * 1024
/** How many members of groups one page of a list has: the page ends behind the group that exceeds it. */
const membersOfPage = 2_000
/** About how large the largest list is. */
const largestList = 1024 * 1024

const bodies = makeMemoryBudget(sharedBounds.directoryBodies)

const isScimJson = (type = ""): boolean =>
  /^application\/(?:scim\+)?json\s*(?:;\s*charset\s*=\s*"?utf-8"?\s*)?$/i.test(type.trim())

const json = (resource: Resource, status = 200, headers: Readonly<Record<string, string>> = {}) =>
  HttpServerResponse.setHeaders(HttpServerResponse.unsafeJson(resource, { status, contentType: scimMediaType }), {
    "cache-control": "no-store",
    ...headers
  })

const bearerIn = (authorization = ""): string => /^Bearer +(\S+) *$/i.exec(authorization)?.[1] ?? ""

const ofUsers = [...commonAttributes, ...userAttributes]
const ofGroups = [...commonAttributes, ...groupAttributes]
const ofAll = [...ofUsers, ...groupAttributes]

/** A request of a directory that has shown its token. */
interface Call {
  readonly request: NodeRequest
  readonly token: DirectoryToken
  readonly origin: string
  readonly base: string
  readonly id: string
  readonly parameter: (name: string) => unknown
  readonly ifMatch: string | undefined
}

/** The endpoints for directories, below each organization that has a token for one. */
export const ScimLive = HttpApiBuilder.Router.use((router) =>
  Effect.gen(function* () {
    const config = yield* ServerConfig
    const database = yield* Database
    const tokens = yield* ScimTokens
    const people = yield* ScimPeople
    const groups = yield* ScimGroups
    const departures = yield* makeDepartures
    const tellOwners = yield* makeStillNeededNotices

    const call = Effect.gen(function* () {
      const request = yield* NodeRequest.current
      const params = yield* HttpRouter.params
      const query = yield* HttpServerRequest.ParsedSearchParams
      const { headers, info } = request
      const { org_name = "", resource_id: id = "" } = params
      const token = yield* tokens.identify(bearerIn(headers["authorization"]), org_name)
      info.actor = token.id
      request.tenant.name = token.org.id
      const origin = config.publicUrl ?? `${config.tls === null ? "http" : "https"}://${headers["host"] ?? "localhost"}`
      const found: Call = {
        ...{ request, token, origin, id, base: `${origin}${scimPath}/${token.org.name}` },
        parameter: (name) => query[name],
        ifMatch: headers["if-match"]
      }
      return found
    })

    const bodyOf = ({ request }: Call) =>
      Effect.flatMap(bodies.scoped(request.tenant.name), (reserve) =>
        readBody(request.source, bodyLimit, reserve, isScimJson)
      )

    /** Runs a change: the token is read again with the organization held, so that a revoked one changes nothing. */
    const changing = <A extends Step, E, R>({ token }: Call, step: (token: DirectoryToken) => Effect.Effect<A, E, R>) =>
      inSteps(database.change([orgScope(token.org.id)], Effect.flatMap(tokens.revalidate(token), step)))

    /** Answers every failure in SCIM's form. */
    const answered = <E, R>(handle: (found: Call) => Effect.Effect<HttpServerResponse.HttpServerResponse, E, R>) =>
      Effect.flatMap(NodeRequest.current, ({ info }) => {
        let token: DirectoryToken | null = null
        return Effect.flatMap(call, (found) => {
          token = found.token
          return handle(found)
        }).pipe(
          Effect.catchAllCause((cause) => {
            if (Cause.isInterruptedOnly(cause)) return Effect.interrupt
            const error = Cause.squash(cause)
            if (error instanceof ScimRefusal) return Effect.succeed(refusedResponse(error))
            if (error instanceof OutdatedRecord) {
              return Effect.succeed(refusedResponse({ status: 412, detail: error.message }))
            }
            if (error instanceof StillNeeded) {
              const told = token === null ? Effect.void : tellOwners(token, error)
              return Effect.as(told, refusedResponse({ status: 409, detail: error.message }))
            }
            return errorResponse(cause, info.id, scimError)
          })
        )
      })

    const single = (
      { parameter, request }: Call,
      resource: Resource,
      etag: string,
      attributes: typeof ofUsers,
      status = 200
    ) =>
      Effect.map(readProjection(parameter, attributes), (projection) => {
        const version = `W/${etag}`
        const ifNoneMatch = request.headers["if-none-match"]
        if (request.method === "GET" && ifNoneMatch !== undefined && namesETag(ifNoneMatch, etag)) {
          return HttpServerResponse.empty({ status: 304, headers: { etag: version } })
        }
        const { location } = isObject(resource["meta"]) ? resource["meta"] : {}
        return json(projected(resource, projection), status, {
          etag: version,
          ...(status === 201 && typeof location === "string" && { location })
        })
      })

    const user = (found: Call, person: Person, status = 200) =>
      single(found, userResource(person, found.base), person.etag, ofUsers, status)

    /** Sends the result of a change of a person, once the rest of what a membership had has ended. */
    const changedUser = (found: Call, change: Extract<PersonChange, { readonly hasMore: false }>, status = 200) =>
      Effect.zipRight(
        change.departure === null ? Effect.void : departures.endRest(change.departure),
        change.person === null
          ? Effect.succeed(HttpServerResponse.empty({ status: 204 }))
          : user(found, change.person, status)
      )

    const usersOf = ({ token }: Call, query: Query): Effect.Effect<readonly [ReadonlyArray<Person>, number]> =>
      Effect.gen(function* () {
        const { count, filter, skipped, sortBy } = query
        if (filter === null && sortBy === null) {
          return [count === 0 ? [] : yield* people.slice(token, skipped, count), yield* people.count(token)] as const
        }
        const wanted = filter === null ? null : onlyEquals(filter)
        const all =
          wanted?.path === "userName"
            ? yield* people.named(token, wanted.value)
            : wanted?.path === "externalId"
              ? yield* people.external(token, wanted.value)
              : yield* people.all(token)
        const found = yield* selected(all, (person) => userResource(person, ""), query, ofUsers)
        return [found.slice(skipped, skipped + count), found.length] as const
      })

    const listUsers = (found: Call, parameter: Call["parameter"]) =>
      Effect.gen(function* () {
        const query = yield* readQuery(parameter, ofUsers)
        yield* found.request.memory.begin(largestList)
        const [some, total] = yield* usersOf(found, query)
        const resources = some.map((person) => projected(userResource(person, found.base), query.projection))
        return json(listResponse(resources, total, query.skipped))
      })

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

    const searched = (list: (found: Call, parameter: Call["parameter"]) => ReturnType<typeof listUsers>) =>
      answered((found) =>
        Effect.flatMap(bodyOf(found), (body) =>
          list(found, (name) => (isObject(body) && Object.hasOwn(body, name) ? body[name] : undefined))
        )
      )

    const whole = <A, E>(made: Effect.Effect<A, E, Transaction>) =>
      Effect.map(made, (value) => ({ hasMore: false as const, value }))

    const at = `${scimPath}/:org_name` as const

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
    yield* router.get(
      `${at}/Users`,
      answered((found) => listUsers(found, found.parameter))
    )
    yield* router.post(`${at}/Users/.search`, searched(listUsers))
    yield* router.post(
      `${at}/Users`,
      answered((found) =>
        Effect.gen(function* () {
          const wanted = yield* wantedPerson(yield* bodyOf(found), null)
          return yield* changedUser(found, yield* changing(found, (token) => people.create(token, wanted)), 201)
        })
      )
    )
    yield* router.get(
      `${at}/Users/:resource_id`,
      answered((found) => Effect.flatMap(people.get(found.token, found.id), (person) => user(found, person)))
    )

    const updateUser = (found: Call, change: (person: Person) => ReturnType<typeof wantedPerson>) =>
      Effect.flatMap(
        changing(found, (token) => people.update(token, found.id, found.ifMatch, change)),
        (changed) => changedUser(found, changed)
      )
    yield* router.put(
      `${at}/Users/:resource_id`,
      answered((found) =>
        Effect.flatMap(bodyOf(found), (body) => updateUser(found, (person) => wantedPerson(body, person)))
      )
    )
    yield* router.patch(
      `${at}/Users/:resource_id`,
      answered((found) =>
        Effect.flatMap(bodyOf(found), (body) =>
          updateUser(found, (person) =>
            Effect.flatMap(patched(personPart(person), body, ofUsers), (resource) =>
              wantedPerson(afterPatch(person, resource), person)
            )
          )
        )
      )
    )
    yield* router.del(
      `${at}/Users/:resource_id`,
      answered((found) =>
        Effect.flatMap(
          changing(found, (token) => people.remove(token, found.id, found.ifMatch)),
          (changed) => changedUser(found, changed)
        )
      )
    )

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
).pipe(Layer.provide([ScimTokens.Default, ScimPeople.Default, ScimGroups.Default, RateLimits.Default]))

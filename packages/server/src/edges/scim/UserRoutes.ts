import * as HttpApiBuilder from "@effect/platform/HttpApiBuilder"
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import * as Effect from "effect/Effect"
import { makeDepartures } from "../../directory/members/Departures.js"
import { type Person, type PersonChange, ScimPeople } from "../../directory/scim/ScimPeople.js"
import { at, type Call, json, largestList, makeScimCalls, ofUsers } from "./ScimCalls.js"
import { onlyEquals } from "./ScimFilter.js"
import { listResponse, projected, type Query, readQuery, selected } from "./ScimLists.js"
import { patched } from "./ScimPatch.js"
import { afterPatch, personPart, userResource, wantedPerson } from "./UserResource.js"

/** The people of an organization, for its directory. */
export const UserRoutesLive = HttpApiBuilder.Router.use((router) =>
  Effect.gen(function* () {
    const people = yield* ScimPeople
    const departures = yield* makeDepartures
    const { answered, bodyOf, changing, searched, single } = yield* makeScimCalls

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
  })
)

import * as HttpRouter from "@effect/platform/HttpRouter"
import * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import { ServerConfig } from "../../base/Config.js"
import { sharedBounds } from "../../base/SharedBounds.js"
import { Database } from "../../database/Database.js"
import { inSteps, type Step } from "../../database/InSteps.js"
import { orgScope } from "../../database/Scopes.js"
import { OutdatedRecord } from "../../directory/scim/OutdatedRecord.js"
import { StillNeeded } from "../../directory/scim/ScimPeople.js"
import { type DirectoryToken, ScimTokens } from "../../directory/scim/ScimTokens.js"
import { makeStillNeededNotices } from "../../directory/scim/StillNeededNotices.js"
import { readBody } from "../../http/Body.js"
import { namesETag } from "../../http/ETag.js"
import { errorResponse } from "../../http/Failure.js"
import { makeMemoryBudget } from "../../http/MemoryBudget.js"
import { NodeRequest } from "../../http/NodeRequest.js"
import { refusedResponse, scimError, scimMediaType, scimPath, ScimRefusal } from "../../http/scim/ScimErrors.js"
import { commonAttributes, groupAttributes, type Resource, userAttributes } from "./ScimAttributes.js"
import { projected, readProjection } from "./ScimLists.js"
import { isObject } from "./ScimValues.js"

/** The path of an organization's endpoints. */
export const at = `${scimPath}/:org_name` as const

/** How many members of groups one page of a list has: the page ends behind the group that exceeds it. */
export const membersOfPage = 2_000
/** About how large the largest list is. */
export const largestList = 1024 * 1024

/** A group of 2,000 members with their addresses is about half of it. */
const bodyLimit = 1024 * 1024

const bodies = makeMemoryBudget(sharedBounds.directoryBodies)

const isScimJson = (type = ""): boolean =>
  /^application\/(?:scim\+)?json\s*(?:;\s*charset\s*=\s*"?utf-8"?\s*)?$/i.test(type.trim())

export const json = (resource: Resource, status = 200, headers: Readonly<Record<string, string>> = {}) =>
  HttpServerResponse.setHeaders(HttpServerResponse.unsafeJson(resource, { status, contentType: scimMediaType }), {
    "cache-control": "no-store",
    ...headers
  })

const bearerIn = (authorization = ""): string => /^Bearer +(\S+) *$/i.exec(authorization)?.[1] ?? ""

export const ofUsers = [...commonAttributes, ...userAttributes]
export const ofGroups = [...commonAttributes, ...groupAttributes]
export const ofAll = [...ofUsers, ...groupAttributes]

/** A request of a directory that has shown its token. */
export interface Call {
  readonly request: NodeRequest
  readonly token: DirectoryToken
  readonly origin: string
  readonly base: string
  readonly id: string
  readonly parameter: (name: string) => unknown
  readonly ifMatch: string | undefined
}

/** Reads the requests of directories, and answers them in SCIM's form. */
export const makeScimCalls = Effect.gen(function* () {
  const config = yield* ServerConfig
  const database = yield* Database
  const tokens = yield* ScimTokens
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

  const searched = <E, R>(
    list: (found: Call, parameter: Call["parameter"]) => Effect.Effect<HttpServerResponse.HttpServerResponse, E, R>
  ) =>
    answered((found) =>
      Effect.flatMap(bodyOf(found), (body) =>
        list(found, (name) => (isObject(body) && Object.hasOwn(body, name) ? body[name] : undefined))
      )
    )

  return { answered, bodyOf, changing, searched, single } as const
})

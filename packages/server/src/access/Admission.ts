import { type Actor, CurrentCaller, delegationOf } from "@coffer/domain/access/Actor"
import {
  Admission,
  AnyContentType,
  bodyLimitOf,
  Compressible,
  ForDelegations,
  LargeResponse,
  Polled,
  RecentLogin,
  type RecentLoginRule,
  Requires
} from "@coffer/domain/api/Requirement"
import { endpointsOf } from "@coffer/domain/api/Endpoints"
import type { Forbidden, Overloaded } from "@coffer/domain/errors/Errors"
import { NotFound, type Reauthenticate, ValidationError } from "@coffer/domain/errors/Errors"
import type * as HttpApi from "@effect/platform/HttpApi"
import type * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import * as HttpApiMiddleware from "@effect/platform/HttpApiMiddleware"
import * as HttpRouter from "@effect/platform/HttpRouter"
import * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import { identity } from "effect/Function"
import * as Option from "effect/Option"
import * as SchemaAST from "effect/SchemaAST"
import type * as Scope from "effect/Scope"
import { Access } from "./Access.js"
import { neverDelegated } from "./place/Decisions.js"
import { entry } from "./Entry.js"
import { tenantOfCaller } from "./caller/Subject.js"
import { loginTooOld } from "./caller/RecentLogin.js"
import { nextTick } from "../base/EventLoop.js"
import { sharedBounds } from "../base/SharedBounds.js"
import { clientNetwork } from "../database/limits/ClientNetwork.js"
import { isAnything, readBody } from "../http/Body.js"
import { makeMemoryBudget } from "../http/MemoryBudget.js"
import { NodeRequest } from "../http/NodeRequest.js"
import { withPlainTags } from "../http/UnionTags.js"

/** The limits of one endpoint. */
interface EndpointLimits {
  /** The query parameters; null if any are accepted. */
  readonly parameters: ReadonlySet<string> | null
  /** The largest body in bytes; null if there is none. */
  readonly bodyLimit: number | null
  readonly withPlainTags: (body: unknown) => unknown
  readonly takesAnyContentType: boolean
  /** The memory in bytes of a response that may be large; null if responses are small. */
  readonly largeResponse: number | null
  /** Whether the response may be compressed. */
  readonly isCompressible: boolean
  /** Whether an unchanged response is answered by 304. */
  readonly isPolled: boolean
  readonly recentLogin: RecentLoginRule
  readonly check: ReturnType<typeof entry>
  /** The name under which a refusal is recorded. */
  readonly call: string
  /** Which delegations may make the call. */
  readonly forDelegations: "any" | "whole" | "none"
  /** Whether a process that only makes requests with secrets has the endpoint too. */
  readonly isOfBroker: boolean
}

/** The groups of the contract that `coffer-server broker` serves. */
const ofBroker = ["system", "use"]

const notServed = new NotFound({
  message: "this process only makes requests with secrets (coffer-server broker): the server has the other calls"
})

const endpointKey = ({ method, path }: { readonly method: string; readonly path: string }): string =>
  `${method} ${path}`

const endpointLimits = <Id extends string, Groups extends HttpApiGroup.HttpApiGroup.Any, E, R>(
  api: HttpApi.HttpApi<Id, Groups, E, R>,
  access: Access
): ReadonlyMap<string, EndpointLimits> => {
  const endpoints = new Map<string, EndpointLimits>()
  for (const { annotations, endpoint, group, middleware } of endpointsOf(api)) {
    const requires = Option.getOrElse(Context.getOption(annotations, Requires), () => "superadmin" as const)
    const hasBody = Option.isSome(endpoint.payloadSchema)
    // Health checkers and links to the documents may add parameters.
    const isStrict = hasBody || [...middleware].some((tag) => HttpApiMiddleware.SecurityTypeId in tag)
    const parameters = Option.match(endpoint.urlParamsSchema, {
      onNone: () => [],
      onSome: ({ ast }) => SchemaAST.getPropertySignatures(SchemaAST.encodedAST(ast)).map(({ name }) => String(name))
    })
    // A refusal is recorded under the action's name, such as `backup.drill` in the group `backups`.
    const call = `${group.identifier.replace(/s$/, "")}.${endpoint.name}`
    endpoints.set(endpointKey(endpoint), {
      call,
      forDelegations: Option.getOrElse(Context.getOption(annotations, ForDelegations), () => "none" as const),
      parameters: isStrict ? new Set(parameters) : null,
      bodyLimit: bodyLimitOf(endpoint, annotations),
      withPlainTags: Option.match(endpoint.payloadSchema, {
        onNone: () => identity,
        onSome: ({ ast }) => withPlainTags(ast)
      }),
      takesAnyContentType: Option.getOrElse(Context.getOption(annotations, AnyContentType), () => false),
      recentLogin: Option.getOrElse(Context.getOption(annotations, RecentLogin), () =>
        endpoint.method === "GET" ? "never" : "always"
      ),
      isOfBroker: ofBroker.includes(group.identifier),
      largeResponse: Option.getOrNull(Context.getOption(annotations, LargeResponse)),
      isCompressible: Option.getOrElse(Context.getOption(annotations, Compressible), () => false),
      isPolled: Option.getOrElse(Context.getOption(annotations, Polled), () => false),
      check: entry(access, requires, call)
    })
  }
  return endpoints
}

/** Only a name in the form of the contract's names is repeated: others could inject text into the message. */
const unknownParameter = (name: string) =>
  new ValidationError({
    message: `${/^[A-Za-z0-9_.-]{1,100}$/.test(name) ? name : "the query"}: is not a parameter of this call`
  })

/** Returns the error that demands a new login if the caller's login is too old for the call; null otherwise. */
const beforeCall = (rule: RecentLoginRule, actor: Actor | null): Reauthenticate | null => {
  if (rule === "never" || rule === "handler" || actor?.type !== "user" || actor.loginIsRecent) return null
  if (rule === "always") return loginTooOld(actor)
  return actor.mayRecover ? null : loginTooOld(actor, "recovery")
}

/**
 * Admits the calls of a contract: rejects unknown query parameters and logins that are too old, and reserves memory for the
 * body and the response. Sets `request.body` so that the caller's right is checked before the body is read. The toolkit
 * decodes the path before it.
 */
export const makeAdmission = <Id extends string, Groups extends HttpApiGroup.HttpApiGroup.Any, E, R>(
  api: HttpApi.HttpApi<Id, Groups, E, R>,
  isBrokerAlone = false
) =>
  Effect.map(Access, (access) => {
    const endpoints = endpointLimits(api, access)
    const bodies = makeMemoryBudget(sharedBounds.bodies)
    // Separate, by address: clients without a credential must not use up the memory of others.
    const strangersBodies = makeMemoryBudget(sharedBounds.strangersBodies)

    const admit = Effect.withFiberRuntime(
      ({
        currentContext: context
      }): Effect.Effect<void, Forbidden | NotFound | Overloaded | Reauthenticate | ValidationError, Scope.Scope> => {
        const { params, route } = Context.unsafeGet(context, HttpRouter.RouteContext)
        const limits = endpoints.get(endpointKey(route))
        const request = Context.unsafeGet(context, HttpServerRequest.HttpServerRequest)
        if (limits === undefined || !(request instanceof NodeRequest)) {
          return Effect.dieMessage("the endpoint is not part of the contract")
        }
        if (isBrokerAlone && !limits.isOfBroker) return Effect.fail(notServed)
        const { info } = request
        const caller = Option.getOrNull(Context.getOption(context, CurrentCaller))
        const actor = caller?.actor ?? null
        info.route = route.path
        request.isCompressible = limits.isCompressible
        request.isPolled = limits.isPolled
        info.actor = actor?.id ?? null
        request.tenant.name = caller === null ? clientNetwork(info.ip) : tenantOfCaller(caller)
        const { bodyLimit, check, largeResponse, parameters, recentLogin, takesAnyContentType } = limits
        if (parameters !== null) {
          for (const name of Object.keys(Context.unsafeGet(context, HttpServerRequest.ParsedSearchParams))) {
            if (!parameters.has(name)) return Effect.fail(unknownParameter(name))
          }
        }
        const delegation = actor === null ? null : delegationOf(actor)
        if (actor !== null && delegation !== null) {
          const { call, forDelegations } = limits
          if (forDelegations === "none") return access.refuseDelegation(actor, delegation, call, neverDelegated)
          if (forDelegations === "whole" && delegation.keys !== null) {
            return access.refuseDelegation(
              actor,
              delegation,
              call,
              "a delegation that is limited to keys never does this"
            )
          }
        }
        const login = beforeCall(recentLogin, actor)
        if (login !== null) return Effect.fail(login)
        const begun = largeResponse === null ? Effect.void : request.memory.begin(largeResponse)
        if (bodyLimit === null) return begun
        const memory = actor === null ? strangersBodies.scoped(request.tenant.name) : bodies.scoped(request.tenant.name)
        return Effect.flatMap(memory, (reserve) => {
          const body = Effect.map(
            readBody(request.source, bodyLimit, reserve, takesAnyContentType ? isAnything : undefined),
            limits.withPlainTags
          )
          request.body =
            caller === null
              ? // Hundreds of strangers' calls at once would run in one tick otherwise.
                Effect.zipRight(nextTick, body)
              : Effect.zipRight(check(params, caller), body)
          return begun
        })
      }
    )
    // Each endpoint declares these errors, but the middleware's type cannot.
    return Admission.of(Effect.orDie(admit))
  })

import type * as HttpApiEndpoint from "@effect/platform/HttpApiEndpoint"
import * as HttpApiMiddleware from "@effect/platform/HttpApiMiddleware"
import * as Context from "effect/Context"
import * as Option from "effect/Option"
import type * as HttpMethod from "@effect/platform/HttpMethod"
import type { Action } from "../access/Permissions.js"
import { Forbidden, Reauthenticate } from "../errors/Errors.js"

/**
 * The requirement of an endpoint for its caller. `person`: no service account, for what people do for themselves alone.
 * An `Action`: the right to it at the place that the path names.
 */
export type Requirement = "nothing" | "credential" | "person" | "superadmin" | "org.create" | Action

/** The requirement of an endpoint. A test fails if an endpoint has none. */
export class Requires extends Context.Tag("@coffer/domain/Requirement/Requires")<Requires, Requirement>() {}

/** Declares the requirement of an endpoint, and the error without it. */
export const requires =
  (requirement: Exclude<Requirement, "nothing" | "credential">) =>
  <Name extends string, Method extends HttpMethod.HttpMethod, Path, UrlParams, Payload, Headers, Success, Error, R, RE>(
    endpoint: HttpApiEndpoint.HttpApiEndpoint<Name, Method, Path, UrlParams, Payload, Headers, Success, Error, R, RE>
  ) =>
    endpoint.addError(Forbidden).annotate(Requires, requirement)

/**
 * When a person's session needs a recent login: never, or always. `recovery`: always, but a login without the passkey of a person
 * who has one is enough, which the handler may then refuse. `handler`: it decides, once it knows what the call changes. Whatever
 * gives somebody else a right, or moves a name, needs one. Every call that changes something declares it: a table in the tests
 * says why those with `never` need none.
 */
export type RecentLoginRule = "never" | "always" | "recovery" | "handler"

export class RecentLogin extends Context.Tag("@coffer/domain/Requirement/RecentLogin")<
  RecentLogin,
  RecentLoginRule
>() {}

/** Declares that an endpoint needs a recent login, and the error without it. */
export const recentLogin =
  (rule: Exclude<RecentLoginRule, "never">) =>
  <Name extends string, Method extends HttpMethod.HttpMethod, Path, UrlParams, Payload, Headers, Success, Error, R, RE>(
    endpoint: HttpApiEndpoint.HttpApiEndpoint<Name, Method, Path, UrlParams, Payload, Headers, Success, Error, R, RE>
  ) =>
    endpoint.addError(Reauthenticate).annotate(RecentLogin, rule)

/**
 * How values get into secrets by a call that changes secrets: `given` in the request, `moved` from another secret or version, or
 * not at all. A test lists the changes below projects that need not declare it.
 */
export class ValueFlow extends Context.Tag("@coffer/domain/Requirement/ValueFlow")<
  ValueFlow,
  "given" | "moved" | "none"
>() {}

/**
 * Whether a delegation may make the call: none of them unless it says so; `any`, or `whole`: only one that is not limited to some
 * keys. With `any`, the handler shows, counts and changes no other keys.
 */
export class ForDelegations extends Context.Tag("@coffer/domain/Requirement/ForDelegations")<
  ForDelegations,
  "any" | "whole"
>() {}

/** The maximum body size of an endpoint in bytes, if it is not 1 MiB. */
export class BodyLimit extends Context.Tag("@coffer/domain/Requirement/BodyLimit")<BodyLimit, number>() {}

const defaultBodyLimit = 1024 * 1024

/**
 * The limit of bodies with a few short fields, for calls whose right is known only when their body was read: room for the longest
 * comment, however it is escaped.
 */
export const smallBody = 8 * 1024

/** The maximum body size of an endpoint in bytes; null if it takes no body. */
export const bodyLimitOf = (
  { payloadSchema }: { readonly payloadSchema: Option.Option<unknown> },
  annotations: Context.Context<never>
): number | null =>
  Option.isNone(payloadSchema)
    ? null
    : Option.getOrElse(Context.getOption(annotations, BodyLimit), () => defaultBodyLimit)

/** Whether an endpoint takes its JSON under any `Content-Type`, for clients that send none. */
export class AnyContentType extends Context.Tag("@coffer/domain/Requirement/AnyContentType")<
  AnyContentType,
  boolean
>() {}

/**
 * The typical size of an endpoint's large responses in bytes. Set it if responses reach megabytes, and the handler does not know
 * their size before it builds them.
 */
export class LargeResponse extends Context.Tag("@coffer/domain/Requirement/LargeResponse")<LargeResponse, number>() {}

/**
 * Whether the response of an endpoint is compressed for clients that accept it. Only where it can hold no secret: the length of a
 * compressed response reveals a secret to whoever chooses a text beside it (BREACH).
 */
export class Compressible extends Context.Tag("@coffer/domain/Requirement/Compressible")<Compressible, boolean>() {}

/**
 * Whether the response of an endpoint that clients poll has an `ETag` of its bytes, and an unchanged one is answered by 304. Not
 * for responses with values: each read of a value is made, and recorded.
 */
export class Polled extends Context.Tag("@coffer/domain/Requirement/Polled")<Polled, boolean>() {}

/**
 * Runs between authentication and the handler. Rejects unknown query parameters, and checks `Requires` before the body is
 * read. It fails only with errors that the endpoint declares.
 */
export class Admission extends HttpApiMiddleware.Tag<Admission>()("@coffer/domain/Admission") {}

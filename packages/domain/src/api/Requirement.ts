import { HttpApiMiddleware } from "@effect/platform"
import { Context } from "effect"
import type { Action } from "../Permissions.js"

/**
 * What a call asks of its caller: nothing, a credential, superadmin rights, the right to create organizations, or the right
 * to an action at the place that the path names.
 */
export type Requirement = "nothing" | "credential" | "superadmin" | "org.create" | Action

/** Every endpoint bears one; a test walks the contract and fails when one is missing. */
export class Requires extends Context.Tag("@coffer/domain/Requires")<Requires, Requirement>() {}

/** The largest body that an endpoint takes, in bytes, where it is not `defaultBodyLimit`. */
export class BodyLimit extends Context.Tag("@coffer/domain/BodyLimit")<BodyLimit, number>() {}

export const defaultBodyLimit = 1024 * 1024

/** How large an answer of an endpoint may well be, in bytes, where that is megabytes. */
export class LargeAnswer extends Context.Tag("@coffer/domain/LargeAnswer")<LargeAnswer, number>() {}

/**
 * Runs between authentication and the handler of each call: refuses query parameters that the call does not have, and lets
 * the body be read only for callers that `Requires` lets through. Its refusals are those that the call declares.
 */
export class Admission extends HttpApiMiddleware.Tag<Admission>()("@coffer/domain/Admission") {}

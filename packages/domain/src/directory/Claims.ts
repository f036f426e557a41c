/** Conditions on the claims of a token: without schemas, because clients check them too. */
import * as Predicate from "effect/Predicate"
import { namesInPointer } from "../base/JsonPointer.js"

export type Claims = Readonly<Record<string, unknown>>

/** Whether a text is a JSON Pointer (RFC 6901) of a claim, with no empty name in it. */
export const isPointer = (text: string): boolean => text.length <= 200 && /^(?:\/(?:[^~/\p{Cc}]|~[01])+)+$/u.test(text)

/** Returns the claim that a JSON Pointer names, or undefined. Items of lists have no name. */
export const claimAt = (claims: Claims, pointer: string): unknown => {
  let at: unknown = claims
  for (const name of namesInPointer(pointer)) {
    if (!Predicate.isRecord(at) || Array.isArray(at) || !Object.hasOwn(at, name)) return undefined
    at = at[name]
  }
  return at
}

const uid = "/kubernetes.io/serviceaccount/uid"
const kubernetesNames = ["/kubernetes.io/namespace", "/kubernetes.io/serviceaccount/name"]

/**
 * Claims with ids that their issuers never give to anyone else: of repositories, projects and pipelines (Buildkite), and of
 * who owns them. Not /organization_id: on some servers all projects are of one organization.
 */
const ids = [
  "/repository_id",
  "/repository_owner_id",
  "/project_id",
  "/namespace_id",
  "/pipeline_id",
  "/oidc.circleci.com~1project-id",
  uid
]

/** The claims that tell one repository, project or workload from all others of its issuer. */
export const identifying: ReadonlyArray<string> = [...ids, ...kubernetesNames]

/** Whether no condition ties the tokens to one owner: then anyone whom the issuer serves might sign in. */
export const unknownScope = (conditions: Readonly<Record<string, string>>): boolean =>
  !ids.some((pointer) => pointer in conditions) && !kubernetesNames.every((pointer) => pointer in conditions)

/** A condition that a token does not meet. */
export interface FailedCondition {
  readonly pointer: string
  /** The claim of the token; undefined if it has none. */
  readonly found: unknown
  readonly expected: string
}

/** Returns the conditions that the claims do not meet: text must be equal, and a number equals no text. */
export const failedConditions = (
  claims: Claims,
  conditions: Readonly<Record<string, string>>
): ReadonlyArray<FailedCondition> =>
  Object.entries(conditions)
    .map(([pointer, expected]) => ({ pointer, expected, found: claimAt(claims, pointer) }))
    .filter(({ expected, found }) => found !== expected)

/** The audience of an account's federations. */
export const audienceOf = (publicUrl: string, org: string, account: string): string =>
  `coffer:${new URL(publicUrl).host}/${org}/${account}`

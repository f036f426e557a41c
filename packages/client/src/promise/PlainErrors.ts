/**
 * The errors of the contract without its schemas, which are as large as the rest of the client. The release bundles this module
 * for programs without Effect, in place of `@coffer/domain/errors/Errors`.
 */
import type { YieldableError } from "effect/Cause"
import * as Data from "effect/Data"
import type { ApiTag } from "./Contract.js"
import { apiErrors } from "./Routes.js"

interface Props {
  readonly message: string
  readonly retryAfter?: number
}

interface PlainError {
  readonly code: string
  readonly status: number
  new (props: Props): YieldableError & { readonly _tag: string; readonly code: string; readonly status: number }
}

const make = (code: string, tag: string, status: number): PlainError =>
  class extends Data.TaggedError(tag)<Props> {
    static readonly code = code
    static readonly status = status
    readonly code = code
    readonly status = status
  }

const classes = new Map(Object.entries(apiErrors).map(([code, [tag, status]]) => [tag, make(code, tag, status)]))

const named = (tag: ApiTag) => {
  const found = classes.get(tag)
  if (found === undefined) throw new Error(`the contract has no error ${tag}`)
  return found
}

export const errors: ReadonlyArray<PlainError> = [...classes.values()]
export const Forbidden = named("Forbidden")
export const NotFound = named("NotFound")
export const ReferenceRefused = named("ReferenceRefused")
export const Unauthorized = named("Unauthorized")

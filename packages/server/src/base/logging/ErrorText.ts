import { type AnyApiError, isApiError } from "@coffer/domain/errors/Errors"
import * as Cause from "effect/Cause"
import * as Predicate from "effect/Predicate"
import { StartupError } from "../StartupError.js"

const maxCauses = 5

/** A stack frame of V8. */
const frame = /^ {4}at (?:[\w$.<>#[\] ]+ \()?(?:file:\/\/|node:|\/)[^\s()]*:\d+:\d+\)?$/

/** Returns the stack frames without the message at the head of the stack. */
const framesOf = ({ message, stack = "" }: Error): ReadonlyArray<string> =>
  stack
    .slice(Math.max(0, stack.indexOf(message)) + message.length)
    .split("\n")
    .filter((line) => frame.test(line))

const word = (value: unknown, form: RegExp): string | undefined =>
  Predicate.isString(value) && form.test(value) ? value : undefined

const kindOf = (error: unknown): string =>
  (Predicate.hasProperty(error, "_tag") ? word(error._tag, /^[\w@/.-]{1,100}$/) : undefined) ??
  (error instanceof Error ? word(error.constructor.name, /^[\w$]{1,100}$/) : undefined) ??
  typeof error

const codeOf = (error: unknown): string =>
  (Predicate.hasProperty(error, "code") ? word(error.code, /^[A-Z][A-Z0-9_]{1,63}$/) : undefined) ?? ""

/** Whether this program wrote the error's message, which then never contains a value. */
const isOwn = (error: unknown): error is AnyApiError | StartupError =>
  isApiError(error) || error instanceof StartupError

const linesOf = (error: unknown, depth = 0): ReadonlyArray<string> => {
  const code = codeOf(error)
  const shown = isOwn(error) ? `: ${error.message}` : code === "" ? "" : ` (${code})`
  const cause =
    depth < maxCauses && Predicate.hasProperty(error, "cause") && error.cause !== undefined && error.cause !== null
      ? linesOf(error.cause, depth + 1).map((line, index) => (index === 0 ? `  caused by ${line}` : line))
      : []
  return [`${kindOf(error)}${shown}`, ...(error instanceof Error ? framesOf(error) : []), ...cause]
}

/**
 * Formats an error and its causes for the log: type, system code and stack frames. The messages of foreign errors are omitted,
 * because a library may put a secret value into them.
 */
export const errorText = (error: unknown): string => linesOf(error).join("\n")

/** Formats all errors of a cause by `errorText`. */
export const causeText = (cause: Cause.Cause<unknown>): string => {
  const errors = [...Cause.failures(cause), ...Cause.defects(cause)]
  return errors.length === 0 && !Cause.isEmpty(cause) ? "interrupted" : errors.map(errorText).join("\n")
}

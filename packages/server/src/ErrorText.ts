import { isApiError } from "@coffer/domain/Errors"
import { Cause, Predicate } from "effect"
import { StartupError } from "./StartupError.js"

const maxCauses = 5

/** A stack frame as V8 writes it. */
const frame = /^ {4}at (?:[\w$.<>#[\] ]+ \()?(?:file:\/\/|node:|\/)[^\s()]*:\d+:\d+\)?$/

/** The frames of an error's stack, which begins with the message. */
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

/** Whether an error's words are this program's: fixed sentences with names and numbers, never a value. */
const isOwn = (error: unknown): error is { readonly message: string } =>
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
 * An error as the log has it: its type, its system code and its place, with the same of what caused it. The words of an
 * error that is not this program's own are left out, because a library may put a value into them.
 */
export const errorText = (error: unknown): string => linesOf(error).join("\n")

/** Everything that a cause holds, as `errorText` writes it. */
export const causeText = (cause: Cause.Cause<unknown>): string => {
  const errors = [...Cause.failures(cause), ...Cause.defects(cause)]
  return errors.length === 0 && !Cause.isEmpty(cause) ? "interrupted" : errors.map(errorText).join("\n")
}

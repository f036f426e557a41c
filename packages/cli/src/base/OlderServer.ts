import type { Failure } from "./Failures.js"

/** The error message of a path or a method that the server lacks. Only an older server lacks one of this client's. */
const unknownCall = /^(?:no such path|this path does not take )/

/** And of a field or a kind of record that it does not know. */
const unknownField = /: (?:is not a field of this call|has the wrong type or form)$/

/** Explains a refusal of an older server by its age; undefined for other failures. */
export const ofOlderServer = ({ _tag, message }: Pick<Failure, "_tag" | "message">): string | undefined => {
  if (_tag !== "NotFound" && _tag !== "MethodNotAllowed" && _tag !== "ValidationError") return undefined
  if (unknownCall.test(message))
    return "the server does not have this call: update it if it is older than this client, else check its address"
  return unknownField.test(message) ? `${message}; update the server if it is older than this client` : undefined
}

import { namesInPointer } from "@coffer/domain/base/JsonPointer"
import * as Predicate from "effect/Predicate"

const isIndex = (text: string): boolean => /^(?:0|[1-9]\d*)$/.test(text)

const childOf = (value: unknown, name: string): unknown => {
  // A list has its length and its methods beside its items.
  if (Array.isArray(value) && !isIndex(name)) return undefined
  const isParent = Predicate.isRecord(value) || Array.isArray(value)
  return isParent && Object.hasOwn(value, name) ? Object.getOwnPropertyDescriptor(value, name)?.value : undefined
}

/** The value at a JSON pointer (RFC 6901); undefined if there is none. */
export const valueAt = (json: unknown, pointer: string): unknown => namesInPointer(pointer).reduce(childOf, json)

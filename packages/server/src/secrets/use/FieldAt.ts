import { namesInPointer } from "@coffer/domain/base/JsonPointer"
import * as Predicate from "effect/Predicate"

const isIndex = (text: string): boolean => /^(?:0|[1-9]\d*)$/.test(text)

const childOf = (value: unknown, name: string): unknown => {
  if (Array.isArray(value)) return isIndex(name) ? (value as ReadonlyArray<unknown>)[Number(name)] : undefined
  return Predicate.isRecord(value) && Object.hasOwn(value, name) ? value[name] : undefined
}

/** The value at a JSON pointer (RFC 6901); undefined if there is none. */
export const valueAt = (json: unknown, pointer: string): unknown => namesInPointer(pointer).reduce(childOf, json)

/** The records of calls without the contract's schemas. A property holds each to its schema. */
import { defined } from "@coffer/domain/base/Defined"
import { secretKeyForm } from "@coffer/domain/base/NameForms"
import * as Option from "effect/Option"
import { count, field, list, matching, optional, orNull, text, value } from "./PlainRecord.js"

export const key = matching(secretKeyForm.is)
const email = matching((found): found is string => /^[\x21-\x7e]+@[\x21-\x7e]+$/.test(found))

export const readListed = (found: unknown) =>
  Option.zipWith(
    Option.all({
      key: field(found, "key", key),
      version: field(found, "version", count),
      updated_at: field(found, "updated_at", text)
    }),
    Option.all({
      removed_at: optional(found, "removed_at", text),
      removed_by: optional(found, "removed_by", orNull(text)),
      expires_at: optional(found, "expires_at", text),
      rotate_every_days: optional(found, "rotate_every_days", count),
      owner: optional(found, "owner", email),
      turn_at: optional(found, "turn_at", text),
      due_at: optional(found, "due_at", text)
    }),
    (secret, others) => ({ ...secret, ...defined(others) })
  )

/** A secret in a list, without its value. */
export type PlainListed = Option.Option.Value<ReturnType<typeof readListed>>

const readBundled = (found: unknown) =>
  Option.all({ key: field(found, "key", key), value: field(found, "value", value) })

const readRefusal = (found: unknown) =>
  Option.all({
    key: field(found, "key", key),
    code: field(found, "code", text),
    message: field(found, "message", text)
  })

export const readBundle = (found: unknown) =>
  Option.all({
    revision: field(found, "revision", count),
    secrets: field(found, "data", list(readBundled)),
    refused: Option.map(optional(found, "errors", list(readRefusal)), (errors) => errors ?? [])
  })

/** The secrets of an environment at one revision, and the keys whose references lead to no value. */
export type PlainBundle = Option.Option.Value<ReturnType<typeof readBundle>>

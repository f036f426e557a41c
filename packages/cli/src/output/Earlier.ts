/** The forms of earlier outputs, for files that have no record: those of earlier versions, and of users without a home. */
import type { Format } from "@coffer/domain/formats/Format"
import type { TemplatePart } from "@coffer/domain/formats/Template"
import * as Either from "effect/Either"
import type { OutputFile } from "./OutputFile.js"
import { isPrivate } from "./OutputFile.js"

type IsOwn = Exclude<OutputFile["isOwn"], false>

/**
 * An export reads back to exactly the bytes that the format writes. It begins with the format's comments or, in a format
 * without them, is for its owner alone.
 */
export const isExport =
  ({ head, read, write }: Format): IsOwn =>
  (content, stats) => {
    const text = content.toString("utf8")
    if (head === undefined ? !isPrivate(stats) : !text.startsWith(head)) return false
    const body = text.slice(head?.length ?? 0)
    const entries = read(body)
    return Either.isRight(entries) && write(entries.right) === body
  }

/** Fewer literal characters fit files that were not made from the template. */
const minLiteral = 16

const countedIn = (text: string) => text.replace(/\s/g, "").length

/** A rendered file has the literals of its template, with values of one line between them. */
export const isRendered = (parts: ReadonlyArray<TemplatePart>): IsOwn => {
  const literals = parts.reduce((sum, part) => sum + (typeof part === "string" ? countedIn(part) : 0), 0)
  return (content) => {
    if (literals < minLiteral) return false
    const text = content.toString("latin1")
    let at = 0
    let isAfterValue = false
    for (const [index, part] of parts.entries()) {
      if (typeof part !== "string") {
        isAfterValue = true
        continue
      }
      const isLast = index === parts.length - 1
      const from = isAfterValue && isLast ? Math.max(at, text.length - part.length) : at
      const found = isAfterValue ? text.indexOf(part, from) : text.startsWith(part, at) ? at : -1
      if (found < 0 || text.slice(at, found).includes("\n")) return false
      at = found + part.length
      isAfterValue = false
    }
    return isAfterValue ? !text.slice(at).includes("\n") : at === text.length
  }
}

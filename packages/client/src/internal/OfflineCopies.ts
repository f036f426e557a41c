import * as Clock from "effect/Clock"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { createHash } from "node:crypto"
import { type Copied, type CopySource, openCopy, sealCopy } from "./OfflineCopy.js"
import { type PrivateFileError, readPrivate, removePrivateFolder, writePrivate } from "./PrivateFile.js"

/** There is no copy to use. */
export class NoCopy extends Data.TaggedError("NoCopy")<{ readonly message: string }> {}

const hash = (parts: ReadonlyArray<string>) =>
  createHash("sha256").update(JSON.stringify(parts)).digest("hex").slice(0, 32)

/** The folder of a place's copies: one for each choice of keys. Names say nothing of the place. */
const folderOf = (root: string, { path, server }: CopySource) =>
  `${root}/${hash([server.base, path.org_name, path.project_name, path.env_name])}`

const fileOf = (root: string, source: CopySource) => `${folderOf(root, source)}/${hash([...source.keys].sort())}`

/** A copy that was written less long ago than this is as good as new. */
const fresh = 15 * 60_000

const written = new Map<string, { readonly at: number; readonly secrets: Copied["secrets"] }>()

/** Replaces the copy by what the server returned. @param maxAge the oldest copy that is used, in milliseconds. */
export const keepCopy = Effect.fnUntraced(function* (
  root: string,
  source: CopySource,
  { refused, secrets }: Copied,
  maxAge: number
) {
  const file = fileOf(root, source)
  const now = yield* Clock.currentTimeMillis
  const last = written.get(file)
  // A clock that was set back counts too: a copy of the future would not be used.
  const age = Math.abs(now - (last?.at ?? 0))
  if (last?.secrets === secrets && age < Math.min(fresh, maxAge / 4)) return
  yield* writePrivate(file, sealCopy(source, { refused, secrets }, now))
  written.set(file, { at: now, secrets })
})

/** Removes every copy of the place. */
export const dropCopies = (root: string, source: CopySource): Effect.Effect<void, PrivateFileError> =>
  Effect.suspend(() => {
    const folder = folderOf(root, source)
    for (const file of written.keys()) if (file.startsWith(`${folder}/`)) written.delete(file)
    return removePrivateFolder(folder)
  })

const refused = new Set([401, 403, 404])

/**
 * Whether the server said that the caller may not read the place, or that it does not exist. The page of a proxy does not say so:
 * it may stand for a server that is down. A refused reference means that a copy may hold values of other environments which the
 * caller may no longer read.
 */
export const isRefusal = (failure: object): boolean =>
  "code" in failure &&
  (failure.code === "REFERENCE_REFUSED" ||
    ("status" in failure && typeof failure.status === "number" && refused.has(failure.status)))

const units = [
  ["d", 86_400],
  ["h", 3600],
  ["min", 60],
  ["s", 1]
] as const

/** An age for people: its two largest units. */
export const showAge = (milliseconds: number): string => {
  let left = Math.floor(milliseconds / 1000)
  const parts = units.flatMap(([unit, seconds]) => {
    const count = Math.floor(left / seconds)
    left -= count * seconds
    return count === 0 ? [] : [`${count} ${unit}`]
  })
  return parts.length === 0 ? "0 s" : parts.slice(0, 2).join(" ")
}

/** Tolerates a clock that was set back by up to five minutes. */
const slack = 5 * 60_000

/** Reads the copy. @param maxAge the oldest copy to use, in milliseconds. */
export const readCopy = Effect.fnUntraced(function* (root: string, source: CopySource, maxAge: number) {
  const text = yield* Effect.mapError(readPrivate(fileOf(root, source)), ({ message }) => new NoCopy({ message }))
  if (Option.isNone(text)) return yield* new NoCopy({ message: "there is no copy yet" })
  const copy = openCopy(source, text.value)
  if (Option.isNone(copy)) {
    return yield* new NoCopy({ message: "the copy was made with another credential, or is damaged" })
  }
  const { refused, savedAt, secrets } = copy.value
  const age = (yield* Clock.currentTimeMillis) - savedAt
  if (age < -slack) return yield* new NoCopy({ message: "the copy is from the future: check the clock" })
  if (age > maxAge) {
    return yield* new NoCopy({ message: `the copy is ${showAge(age)} old and may be ${showAge(maxAge)} old` })
  }
  return { age: Math.max(0, age), refused, savedAt, secrets }
})

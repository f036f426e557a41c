import { readPrivate, statePath, writePrivate } from "@coffer/client/internal/PrivateFile"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type { BigIntStats } from "node:fs"
import { resolve } from "node:path"

/** A record names no file and holds nothing of its content. */
const recordOf = Effect.fnUntraced(function* (path: string) {
  // Not imported: few commands write a file.
  const { createHash } = process.getBuiltinModule("node:crypto")
  return yield* statePath(`outputs/${createHash("sha256").update(resolve(path)).digest("hex").slice(0, 32)}`)
})

/** A change of the content changes these; a change of the owner or the permissions does not. */
const stampOf = ({ mtimeNs, size }: BigIntStats) => `${size} ${mtimeNs}\n`

/** Whether the file is as this program last wrote it. */
export const isRecorded = (path: string, stats: BigIntStats) =>
  Effect.flatMap(recordOf(path), readPrivate).pipe(
    Effect.map(Option.contains(stampOf(stats))),
    Effect.orElseSucceed(() => false)
  )

/** Records that this program wrote the file. A user without a home has no records. */
export const recordOutput = (path: string, stats: BigIntStats) =>
  Effect.flatMap(recordOf(path), (record) => writePrivate(record, stampOf(stats))).pipe(Effect.ignore)

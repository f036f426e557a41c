import { fstatSync, statSync } from "node:fs"
import * as Effect from "effect/Effect"
import type { Succession } from "../Superseded.js"

const lookEvery = "1 second"

/**
 * The lock of a database file keeps other programs out, also while this process is paused. Nothing keeps a person from replacing
 * the file or its lock: what this process writes then would be in a file without a name, or beside another server's writes.
 * `descriptor` is of the database's file.
 */
export const fileFence = (path: string, descriptor: number) => {
  const lock = `${path}.lock`
  const known = [
    { file: path, opened: fstatSync(descriptor) },
    { file: lock, opened: statSync(lock) }
  ] as const

  /** Returns the file that was removed or replaced since it was opened; null if none was. */
  const replaced = (): string | null =>
    known.find(({ file, opened }) => {
      const found = statSync(file, { throwIfNoEntry: false })
      return found === undefined || found.ino !== opened.ino || found.dev !== opened.dev
    })?.file ?? null

  const superseded = Effect.sync(replaced).pipe(
    // A folder that cannot be read for a moment says nothing of the file.
    Effect.catchAllDefect(() => Effect.succeed(null)),
    Effect.delay(lookEvery),
    Effect.repeat({ until: (file) => file !== null }),
    Effect.map((file): Succession => ({
      message: `this server ends and has written nothing more, because ${file} was replaced or removed while it ran: see that the right file is at ${path}, and start it again`,
      mayRestart: true
    }))
  )

  return { isCurrent: () => replaced() === null, superseded } as const
}

import { Variables } from "@coffer/client/internal/Variables"
import * as Effect from "effect/Effect"
import { spawn } from "node:child_process"
import { guardSignals } from "./GuardedSignals.js"

type Environment = Readonly<Record<string, string | undefined>>

/** Less ends by itself if one screen suffices, keeps colours, and leaves the text on the screen. */
const lessOptions = "FRX"

/** The exit codes of a shell that cannot start a command. */
const notStarted: ReadonlySet<number | null> = new Set([126, 127])

/** Starts the pager: without PAGER, less, if it is installed. `cat` would only delay the list. */
const start = (env: Environment) => {
  const pager = env["PAGER"]?.trim()
  if (pager === "" || pager === "cat" || process.platform === "win32") return undefined
  const [file, args] = pager === undefined ? (["less", []] as const) : (["/bin/sh", ["-c", pager]] as const)
  return spawn(file, args, { stdio: ["pipe", "inherit", "inherit"], env: { LESS: lessOptions, ...env } })
}

/**
 * Shows a text in the person's pager, until the person leaves it. Returns false if no pager showed the text. The pager may
 * be left before it has read everything.
 */
export const page = (text: string): Effect.Effect<boolean> =>
  Effect.flatMap(Variables, (env) =>
    Effect.acquireUseRelease(
      Effect.sync(guardSignals),
      () =>
        Effect.async<boolean>((resume) => {
          const child = start(env)
          if (child === undefined) return resume(Effect.succeed(false))
          child.once("error", () => resume(Effect.succeed(false)))
          child.once("close", (code) => resume(Effect.succeed(!notStarted.has(code))))
          child.stdin.on("error", () => {})
          child.stdin.end(text)
          return Effect.sync(() => child.kill())
        }),
      (restore) => Effect.sync(restore)
    )
  )

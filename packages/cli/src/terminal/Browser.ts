import { variable } from "@coffer/client/internal/Variables"
import * as Effect from "effect/Effect"
import { spawn } from "node:child_process"

type Environment = Readonly<Record<string, string | undefined>>

/** Why this machine can show no browser to the person, or undefined if it may. */
export const noBrowserReason = (env: Environment, platform: NodeJS.Platform = process.platform): string | undefined => {
  if (variable(env, "SSH_CONNECTION") !== undefined) return "this is a connection by SSH"
  const hasDisplay = variable(env, "DISPLAY") !== undefined || variable(env, "WAYLAND_DISPLAY") !== undefined
  return platform === "linux" && !hasDisplay ? "this machine has no display" : undefined
}

/** The platform's program that opens an address. */
const openerOf = (platform: NodeJS.Platform): readonly [file: string, ...args: ReadonlyArray<string>] => {
  switch (platform) {
    case "darwin":
      return ["open"]
    case "win32":
      return ["rundll32", "url.dll,FileProtocolHandler"]
    default:
      return ["xdg-open"]
  }
}

/** An opener that still runs has become the browser. */
const patience = 3_000

/**
 * Opens an address in the person's browser, without a shell. Returns whether the platform's opener took it. The browser has a
 * process group of its own, so that ctrl-C does not end it.
 *
 * @param url an http or https address: others could start any program.
 */
export const openBrowser = (url: URL, platform: NodeJS.Platform = process.platform): Effect.Effect<boolean> =>
  Effect.async((resume) => {
    const [file, ...args] = openerOf(platform)
    const child = spawn(file, [...args, url.href], { stdio: "ignore", detached: true })
    const timer = setTimeout(() => resume(Effect.succeed(true)), patience)
    const end = (isOpen: boolean) => {
      clearTimeout(timer)
      resume(Effect.succeed(isOpen))
    }
    child.once("error", () => end(false))
    child.once("exit", (code) => end(code === 0))
    child.unref()
    return Effect.sync(() => clearTimeout(timer))
  })

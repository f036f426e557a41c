import * as Effect from "effect/Effect"
import { Output } from "./Output.js"

const width = 24
const frame = 80

const bar = (share: number) => {
  const filled = Math.round(share * width)
  return `[${"#".repeat(filled)}${"-".repeat(width - filled)}]`
}

/** While the server works nobody knows how far it is: a piece that wanders. */
const wandering = (tick: number) => {
  const size = 6
  const way = width - size
  const at = way - Math.abs((tick % (2 * way)) - way)
  return `[${"-".repeat(at)}${"#".repeat(size)}${"-".repeat(way - at)}]`
}

export interface Progress {
  /** Shows how much is done. */
  readonly step: (share: number, doing: string) => Effect.Effect<void>
  /** Takes what is shown away, before something else is written. */
  readonly clear: Effect.Effect<void>
  /** Shows that something is being done, until it is. */
  readonly during: <A, E, R>(doing: string, effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
}

const silent: Progress = { step: () => Effect.void, clear: Effect.void, during: (_, effect) => effect }

/** Progress that `draw` shows: a line that replaces the one before. */
const shown = (draw: (text: string) => Effect.Effect<void>): Progress => ({
  step: (share, doing) => draw(`${bar(share)} ${doing}`),
  clear: draw(""),
  during: (doing, effect) => {
    let tick = 0
    const next = Effect.zipRight(
      Effect.suspend(() => draw(`${wandering(tick++)} ${doing}`)),
      Effect.sleep(frame)
    )
    return Effect.raceFirst(effect, Effect.forever(next))
  }
})

/** Shows progress on standard error, where people read it; the line is gone afterwards. */
export const withProgress = <A, E, R>(
  use: (progress: Progress) => Effect.Effect<A, E, R>
): Effect.Effect<A, E, R | Output> =>
  Effect.flatMap(Output, ({ isErrorTerminal, writeError }) => {
    if (!isErrorTerminal) return use(silent)
    const draw = (text: string) => Effect.sync(() => writeError(`\r\x1b[K${text}`))
    return Effect.ensuring(use(shown(draw)), draw(""))
  })

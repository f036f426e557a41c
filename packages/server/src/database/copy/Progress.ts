import * as Effect from "effect/Effect"
import type { Step } from "./CopyTables.js"

const width = 24
const frameMillis = 80
/** How often a line is written where no line can be replaced. */
const linePercents = 10

interface Output {
  readonly isTerminal: boolean
  readonly write: (text: string) => void
}

const count = (rows: number): string => rows.toLocaleString("en-US")

const bar = (share: number): string => {
  const filled = Math.round(share * width)
  return `[${"#".repeat(filled)}${"-".repeat(width - filled)}]`
}

/** Shows a line that replaces the one before. */
const onTerminal = (write: Output["write"]): Step => {
  let next = 0
  return (done, total, table) =>
    Effect.sync(() => {
      const isDone = done === total
      if (!isDone && performance.now() < next) return
      next = performance.now() + frameMillis
      write(`\r\u001b[K${isDone ? "" : `${bar(done / total)} ${count(done)} of ${count(total)} rows: ${table}`}`)
    })
}

const inLines = (write: Output["write"]): Step => {
  let next = linePercents
  return (done, total) =>
    Effect.sync(() => {
      const percents = Math.floor((100 * done) / total)
      if (percents < next) return
      next = percents - (percents % linePercents) + linePercents
      write(`copied ${count(done)} of ${count(total)} rows\n`)
    })
}

/** Shows how much of a copy is done: a bar on a terminal, else a line for every tenth. */
export const progressOn = ({ isTerminal, write }: Output): Step => (isTerminal ? onTerminal(write) : inLines(write))

export const silent: Step = () => Effect.void

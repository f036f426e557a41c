import { Logger } from "effect"

/** The lines that are logged under a layer, each with its level. */
export const logged = () => {
  const lines: Array<string> = []
  const layer = Logger.replace(
    Logger.defaultLogger,
    Logger.make(({ logLevel, message }) => void lines.push(`${logLevel.label} ${String(message)}`))
  )
  return { lines, layer }
}

import { Cause, Effect, HashMap, Layer, Logger } from "effect"
import { ServerConfig } from "./Config.js"

const text = (message: unknown): string =>
  (Array.isArray(message) ? message : [message])
    .map((part) => (typeof part === "string" ? part : Cause.isCause(part) ? Cause.pretty(part) : JSON.stringify(part)))
    .join(" ")

/** One line an entry, for people. */
const prettyLogger = Logger.make(({ annotations, cause, date, logLevel, message }) => {
  const fields = [...HashMap.entries(annotations)].map(([key, value]) => `${key}=${String(value)}`).join(" ")
  const trace = Cause.isEmpty(cause) ? "" : `\n${Cause.pretty(cause, { renderErrorCause: true })}`
  return `${date.toISOString()} ${logLevel.label.padEnd(5)} ${text(message)}${fields === "" ? "" : `  ${fields}`}${trace}`
})

const toStderr = (line: string): void => {
  process.stderr.write(`${line}\n`)
}

/** The log: on standard error, for people or as JSON, from the configured level up. */
export const LoggingLive = Layer.unwrapEffect(
  Effect.map(ServerConfig, ({ logFormat, logLevel }) =>
    Layer.merge(
      Logger.replace(
        Logger.defaultLogger,
        Logger.map(logFormat === "json" ? Logger.jsonLogger : prettyLogger, toStderr)
      ),
      Logger.minimumLogLevel(logLevel)
    )
  )
)

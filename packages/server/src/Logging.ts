import { Cause, Context, Effect, FiberRef, FiberRefs, HashMap, Layer, Logger } from "effect"
import { ServerConfig } from "./Config.js"
import { AccessEntry } from "./http/AccessLog.js"
import { RequestInfo } from "./http/RequestInfo.js"

const text = (part: unknown): string =>
  typeof part === "string"
    ? part
    : part instanceof AccessEntry
      ? part.toString()
      : Cause.isCause(part)
        ? Cause.pretty(part)
        : JSON.stringify(part)

interface Entry {
  readonly time: string
  readonly level: string
  readonly message: string
  readonly fields: Readonly<Record<string, unknown>>
  /** Of what failed, with its stack; empty when nothing did. */
  readonly cause: string
}

const requestOf = (references: FiberRefs.FiberRefs): string =>
  Context.get(FiberRefs.getOrDefault(references, FiberRef.currentContext), RequestInfo).id

/** What a line is made of. Whatever is logged while a request is served bears the request's id. */
const entryOf = ({ annotations, cause, context, date, logLevel, message }: Logger.Logger.Options<unknown>): Entry => {
  const parts: ReadonlyArray<unknown> = Array.isArray(message) ? message : [message]
  const access = parts.find((part) => part instanceof AccessEntry)
  const request = access === undefined ? requestOf(context) : ""
  return {
    time: date.toISOString(),
    level: logLevel.label,
    message: parts.map(text).join(" "),
    fields: {
      ...access?.fields,
      ...(request !== "" && { request }),
      ...(!HashMap.isEmpty(annotations) && Object.fromEntries([...HashMap.entries(annotations)]))
    },
    cause: Cause.isEmpty(cause) ? "" : Cause.pretty(cause, { renderErrorCause: true })
  }
}

/** Fields that a line for people has in its message already. */
const told: ReadonlySet<string> = new Set(["method", "route", "status"])

/** One line an entry, for people. */
const prettyLogger = Logger.make((options) => {
  const { cause, fields, level, message, time } = entryOf(options)
  const shown = Object.entries(fields).flatMap(([key, value]) => (told.has(key) ? [] : [`${key}=${String(value)}`]))
  const line = `${time} ${level.padEnd(5)} ${message}`
  return `${line}${shown.length === 0 ? "" : `  ${shown.join(" ")}`}${cause === "" ? "" : `\n${cause}`}`
})

/** One JSON object a line, for machines. */
const jsonLogger = Logger.make((options) => {
  const { cause, fields, level, message, time } = entryOf(options)
  return JSON.stringify({ time, level: level.toLowerCase(), message, ...fields, ...(cause !== "" && { cause }) })
})

/** The lines of one turn of the event loop go out together: a call of the system for each costs as much as the rest of it. */
let pending = ""
const flush = (): void => {
  const lines = pending
  pending = ""
  if (lines !== "") process.stderr.write(lines)
}
process.on("exit", flush)

const toStderr = (line: string): void => {
  if (pending === "") setImmediate(flush)
  pending += `${line}\n`
}

/** The log: on standard error, for people or as JSON, from the configured level up. */
export const LoggingLive = Layer.unwrapEffect(
  Effect.map(ServerConfig, ({ logFormat, logLevel }) =>
    Layer.merge(
      Logger.replace(Logger.defaultLogger, Logger.map(logFormat === "json" ? jsonLogger : prettyLogger, toStderr)),
      Logger.minimumLogLevel(logLevel)
    )
  )
)

import * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as FiberRef from "effect/FiberRef"
import * as FiberRefs from "effect/FiberRefs"
import * as HashMap from "effect/HashMap"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as LogLevel from "effect/LogLevel"
import { ServerConfig } from "../Config.js"
import { timestamp } from "../Time.js"
import { causeText, errorText } from "./ErrorText.js"
import { type AccessFields, accessFields, AccessLog, isQuiet } from "./AccessLog.js"
import { RequestInfo } from "../RequestInfo.js"
import { ownRole } from "../WorkerShare.js"
import { standardError } from "./LogSink.js"

const text = (part: unknown): string =>
  typeof part === "string"
    ? part
    : Cause.isCause(part)
      ? causeText(part)
      : typeof part === "number"
        ? String(part)
        : errorText(part)

/** The field of each line that names the worker of a server with several. */
const workerFields: { readonly worker?: number } = ownRole === null ? {} : { worker: ownRole.number }
const workerText = ownRole === null ? "" : `,"worker":${ownRole.number}`

interface Entry {
  readonly time: string
  readonly level: LogLevel.LogLevel
  readonly message: string
  readonly fields: Readonly<Record<string, unknown>>
  /** From `causeText`; empty if there is no cause. */
  readonly cause: string
}

const requestOf = (references: FiberRefs.FiberRefs): string =>
  Context.get(FiberRefs.getOrDefault(references, FiberRef.currentContext), RequestInfo).id

const entryOf = ({ annotations, cause, context, date, logLevel, message }: Logger.Logger.Options<unknown>): Entry => {
  const parts: ReadonlyArray<unknown> = Array.isArray(message) ? message : [message]
  const request = requestOf(context)
  return {
    time: timestamp(date.getTime()),
    level: logLevel,
    message: parts.map(text).join(" "),
    fields: {
      ...workerFields,
      ...(request !== "" && { request }),
      ...(!HashMap.isEmpty(annotations) && Object.fromEntries([...HashMap.entries(annotations)]))
    },
    cause: causeText(cause)
  }
}

const prettyLine = ({ cause, fields, level, message, time }: Entry): string => {
  const shown = Object.entries(fields).map(([key, value]) => `${key}=${String(value)}`)
  const line = `${time} ${level.label.padEnd(5)} ${message}`
  return `${line}${shown.length === 0 ? "" : `  ${shown.join(" ")}`}${cause === "" ? "" : `\n${cause}`}`
}

const jsonLine = ({ cause, fields, level, message, time }: Entry): string =>
  JSON.stringify({ time, level: level.label.toLowerCase(), message, ...fields, ...(cause !== "" && { cause }) })

type AccessLine = (time: string, level: LogLevel.LogLevel, fields: AccessFields) => string

const prettyAccessLine: AccessLine = (time, level, { actor, method, ms, request, route, status }) =>
  prettyLine({
    time,
    level,
    message: `${method} ${route} ${status}`,
    fields: { ms, request, actor, ...workerFields },
    cause: ""
  })

/** As `jsonLine`, but faster, because every request has a line. No field contains a character that JSON escapes. */
const jsonAccessLine: AccessLine = (time, level, { actor, method, ms, request, route, status }) =>
  `{"time":"${time}","level":"${level.label.toLowerCase()}","message":"${method} ${route} ${status}",` +
  `"method":"${method}","route":"${route}","status":${status},"ms":${ms},"request":"${request}","actor":"${actor}"${workerText}}`

const droppedMessage = (lines: number): string =>
  `${lines} log ${lines === 1 ? "line was" : "lines were"} dropped here: standard error was not read in time`

/** The loggers on standard error, by the configured format and level. */
export const LoggingLive = Layer.unwrapEffect(
  Effect.gen(function* () {
    const { logFormat, logLevel } = yield* ServerConfig
    const clock = yield* Effect.clock
    const isJson = logFormat === "json"
    const lineOf = isJson ? jsonLine : prettyLine
    const accessLineOf = isJson ? jsonAccessLine : prettyAccessLine
    const logger = Logger.make<unknown, void>((options) => standardError.write(lineOf(entryOf(options))))
    standardError.reportBy((lines) => {
      const time = timestamp(clock.unsafeCurrentTimeMillis())
      return lineOf({ time, level: LogLevel.Warning, message: droppedMessage(lines), fields: workerFields, cause: "" })
    })
    const writesInfo = LogLevel.lessThanEqual(logLevel, LogLevel.Info)
    const writesDebug = LogLevel.lessThanEqual(logLevel, LogLevel.Debug)
    const access = AccessLog.of((method, info, status, millis) => {
      const fields = accessFields(method, info, status, millis)
      const quiet = isQuiet(fields)
      if (!(quiet ? writesDebug : writesInfo)) return
      const time = timestamp(clock.unsafeCurrentTimeMillis())
      standardError.write(accessLineOf(time, quiet ? LogLevel.Debug : LogLevel.Info, fields))
    })
    return Layer.mergeAll(
      Logger.replace(Logger.defaultLogger, logger),
      Logger.minimumLogLevel(logLevel),
      Layer.succeed(AccessLog, access)
    )
  })
)

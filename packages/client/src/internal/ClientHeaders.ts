import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import { readPrivate } from "./PrivateFile.js"
import type { ServerUrl } from "./ServerUrl.js"
import { refuseUntrusted } from "./TrustedOrigins.js"
import { BadSetting, variable, Variables } from "./Variables.js"

/** A header that something before the server wants, such as a login proxy or a mesh. */
export interface ClientHeader {
  /** In lowercase. */
  readonly name: string
  readonly value: Redacted.Redacted
}

const fileVariable = "SERVICE_HEADERS_FILE"
const prefix = "SERVICE_HEADER_"

/** Headers of the client, its credentials, its connection and the body. */
const reserved =
  /^(?:host|authorization|cookie2?|user-agent|(?:x-api-key|x-vault|x-coffer|content|accept|if|sec)(?:-.*)?|prefer|expect|range|connection|keep-alive|proxy-(?:connection|authenticate)|transfer-encoding|te|trailer|upgrade|http2-settings|via)$/

/** No message repeats a line: it may be a value alone. */
const parse = (where: string, name: string, value: string): Either.Either<ClientHeader, BadSetting> => {
  const refuse = (problem: string) => Either.left(new BadSetting({ message: `${where}: ${problem}` }))
  if (!/^[a-z0-9][a-z0-9_.-]*$/.test(name)) return refuse("this is no header: write NAME: VALUE")
  if (reserved.test(name)) return refuse(`the header ${name} cannot be set: the client or its connection sets it`)
  if (!/^[!-~](?:[ -~]*[!-~])?$/.test(value)) return refuse("its value must be printable ASCII text")
  return Either.right({ name, value: Redacted.make(value) })
}

/** The lines of the file that are not empty and no comment. Only a file that others cannot read is read. */
const fromFile = Effect.fnUntraced(function* (path: string) {
  const bad = (problem: string) => new BadSetting({ message: `${fileVariable}: ${problem}` })
  const text = yield* Effect.mapError(readPrivate(path), ({ message }) => bad(message))
  if (Option.isNone(text)) return yield* bad(`${path} does not exist`)
  return text.value.split(/\r?\n/).flatMap((line, index) => {
    if (/^\s*(?:#|$)/.test(line)) return []
    const where = `${fileVariable}: ${path}, line ${index + 1}`
    const colon = line.indexOf(":")
    return [
      { where, header: parse(where, line.slice(0, Math.max(0, colon)).toLowerCase(), line.slice(colon + 1).trim()) }
    ]
  })
})

/** The configured headers. The file is read again each time, so that a new token counts without a restart. */
export const readHeaders = Effect.gen(function* () {
  const env = yield* Variables
  const file = variable(env, fileVariable)
  const named = Object.keys(env).filter((name) => name.startsWith(prefix) && env[name] !== "")
  const given = named.map((where) => {
    const name = where.slice(prefix.length).toLowerCase().replaceAll("_", "-")
    return { where, header: parse(where, name, env[where] ?? "") }
  })
  const headers = new Map<string, ClientHeader>()
  for (const { header, where } of [...(file === undefined ? [] : yield* fromFile(file)), ...given]) {
    const found = yield* header
    if (headers.has(found.name)) {
      return yield* new BadSetting({ message: `${where}: the header ${found.name} is given twice` })
    }
    headers.set(found.name, found)
  }
  return [...headers.values()]
})

/** Fails if the headers may not be sent to a server. They go where the credential may go. */
export const refuseHeaders = (server: ServerUrl) => refuseUntrusted(server, `what ${fileVariable} or ${prefix}… holds`)

/** Returns what reads the headers for each request to a server. A server that is not trusted gets none. */
export const headersFor = (server: ServerUrl) =>
  refuseHeaders(server).pipe(
    Effect.as(
      Effect.map(readHeaders, (headers) =>
        Object.fromEntries(headers.map(({ name, value }) => [name, Redacted.value(value)]))
      )
    ),
    Effect.catchTags({
      PrivateFileError: ({ message }) => Effect.succeed(Effect.fail(new BadSetting({ message }))),
      UntrustedServer: ({ message }) => Effect.as(Effect.logWarning(message), Effect.succeed({}))
    })
  )

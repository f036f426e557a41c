import { maxUseBody } from "@coffer/domain/secrets/UseRequest"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import { timingSafeEqual } from "node:crypto"
import type { IncomingMessage, ServerResponse } from "node:http"
import type { Socket } from "node:net"
import { type Arrived, hostOf, type ProxyRule, type Wanted, wantedOf } from "./Outgoing.js"
import type { FindStandIns } from "./StandIns.js"
import { type Passed, refusal } from "./Passed.js"

export interface ProxyOptions {
  /** The use rules of the run as they are now. */
  readonly rules: Effect.Effect<ReadonlyArray<ProxyRule>>
  readonly find: FindStandIns
  readonly use: (wanted: Wanted, response: ServerResponse) => Effect.Effect<Passed | undefined>
}

export const isSame = (one: string, other: string): boolean => {
  const [a, b] = [Buffer.from(one), Buffer.from(other)]
  return a.length === b.length && timingSafeEqual(a, b)
}

const isLoopback = (address: string | undefined): boolean =>
  address !== undefined && /^(?:::ffff:)?127\.|^::1$/.test(address)

/** Whether a connection comes from this machine. */
export const isOwn = ({ localAddress, remoteAddress }: Socket): boolean =>
  isLoopback(remoteAddress) && isLoopback(localAddress)

export const notYours = refusal(
  407,
  "PROXY_CREDENTIAL",
  "this proxy belongs to another program: coffer use proxy sets its address in the variables of its own command"
)

export const send = (response: ServerResponse, { body, headers, status }: Passed, isHead = false): void => {
  if (response.headersSent) {
    response.destroy()
    return
  }
  response.writeHead(status, { ...headers, "content-length": String(body.length) })
  response.end(isHead ? undefined : body)
}

const read = (request: IncomingMessage): Promise<Buffer | undefined> =>
  new Promise((resolve, reject) => {
    const chunks: Array<Buffer> = []
    let left = maxUseBody
    request.on("data", (chunk: Buffer) => {
      left -= chunk.length
      if (left < 0) resolve(undefined)
      else chunks.push(chunk)
    })
    request.once("end", () => resolve(Buffer.concat(chunks)))
    request.once("error", reject)
  })

const headersOf = ({ headers }: IncomingMessage): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, typeof value === "string" ? value : value.join(", ")] as const]
    )
  )

/** Has the server answer a request of the program. */
export const answered = (
  { find, rules, use }: ProxyOptions,
  request: IncomingMessage,
  response: ServerResponse,
  url: string
): Effect.Effect<void> =>
  Effect.gen(function* () {
    const method = request.method ?? "GET"
    const finish = (passed: Passed) => Effect.sync(() => send(response, passed, method === "HEAD"))
    const body = yield* Effect.promise(() => read(request))
    if (body === undefined) {
      return yield* finish(refusal(413, "PAYLOAD_TOO_LARGE", "a request with secrets has a body of at most 10 MiB"))
    }
    const arrived: Arrived = { method, url, headers: headersOf(request), body }
    const host = hostOf(url)
    const own = (yield* rules).filter(({ hosts }) => hosts.includes(host))
    if (own.length === 0) {
      return yield* finish(
        refusal(403, "USE_REFUSED", `host ${host} is in no use rule of yours: coffer use list shows them`)
      )
    }
    const wanted = wantedOf(own, arrived, find)
    if (Either.isLeft(wanted)) return yield* finish(refusal(400, "STAND_IN", wanted.left))
    const passed = yield* use(wanted.right, response)
    if (passed !== undefined) yield* finish(passed)
  })

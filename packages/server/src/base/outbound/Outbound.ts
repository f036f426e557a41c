import { lookup } from "node:dns/promises"
import { isIP, type LookupFunction } from "node:net"
import { isPlainUrl } from "@coffer/domain/base/PlainUrl"
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import * as Struct from "effect/Struct"
import type * as Scope from "effect/Scope"
import type { Readable } from "node:stream"
import type { Agent, Dispatcher } from "undici"
import { ServerConfig } from "../Config.js"
import { judge, type Verdict } from "./AddressVerdict.js"

/** Why a request was not made, or got no response. */
export type OutboundReason =
  /** The URL has credentials, a fragment, or a host that is neither a name nor an address. */
  | "url"
  /** Neither https, nor http to a loopback address that is listed. */
  | "scheme"
  | "no address"
  /** One of the addresses of the host is not public, nor listed. */
  | "address refused"
  | "certificate"
  | "connection"
  | "timeout"

const sentences: Readonly<Record<OutboundReason, string>> = {
  url: "the address is not a plain http or https address",
  scheme: "the address is not https",
  "no address": "the host has no address",
  "address refused": "the host has an address that is not public: SERVICE_OUTBOUND_ALLOW_NETWORKS lists the others",
  certificate: "the host has no valid certificate for its name",
  connection: "the connection failed",
  timeout: "there was no complete response in time"
}

export const outboundReasons = Struct.keys(sentences)

/** A request that failed. It contains nothing of the response. */
export class OutboundError extends Data.TaggedError("OutboundError")<{ readonly reason: OutboundReason }> {
  override get message() {
    return sentences[this.reason]
  }
}

export interface OutboundRequest {
  readonly url: string
  readonly method?: Dispatcher.HttpMethod
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | Uint8Array
  /** The certificates of the authorities of the host, as PEM, instead of the system's. */
  readonly ca?: string
  /** From the resolution of the name to the last byte. */
  readonly timeout: Duration.DurationInput
  /** How many bytes of the response are read. */
  readonly maxBytes: number
}

export interface OutboundResponse {
  readonly status: number
  readonly headers: Readonly<Record<string, string | ReadonlyArray<string> | undefined>>
  readonly body: Uint8Array
  /** Whether the response is longer than `maxBytes`: then the connection was closed. */
  readonly truncated: boolean
}

export interface Resolved {
  readonly address: string
  readonly family: number
}

interface NetworkAccessShape {
  readonly resolve: (host: string) => Promise<ReadonlyArray<Resolved>>
  /** Certificates to trust instead of the system's; null for those. */
  readonly certificates: string | null
}

/** The resolver of names, and the certificates to trust. */
export class NetworkAccess extends Context.Reference<NetworkAccess>()("@coffer/server/NetworkAccess", {
  defaultValue: (): NetworkAccessShape => ({
    resolve: (host) => lookup(host, { all: true, verbatim: true }),
    certificates: null
  })
}) {}

/** A response whose body is read while it comes. Its connection is closed with the scope. */
export interface OutboundStream extends Omit<OutboundResponse, "body" | "truncated"> {
  /** Returns the bytes that have come since, once there are some; null at the end. */
  readonly next: Effect.Effect<Uint8Array | null, OutboundError>
}

const failed = (reason: OutboundReason) => new OutboundError({ reason })

/** Parses a URL whose host is written as it is used. */
export const targetOf = (text: string): Effect.Effect<URL, OutboundError> =>
  isPlainUrl(text) ? Effect.succeed(new URL(text)) : failed("url")

const literalOf = ({ hostname }: URL): Resolved | null => {
  const address = hostname.replace(/^\[|\]$/g, "")
  const family = isIP(address)
  return family === 0 ? null : { address, family }
}

const codeOf = (error: unknown): string =>
  Predicate.hasProperty(error, "code") && typeof error.code === "string" ? error.code : ""

const reasonOf = (error: unknown): OutboundReason =>
  /CERT|TLS|SSL|SELF_SIGNED|VERIFY/.test(codeOf(error)) ? "certificate" : "connection"

/** Loaded on demand, because the library costs memory and startup time. */
const library = Effect.promise(() => import("undici"))

/** Connects to the vetted addresses, whatever the name would resolve to now. */
const pinned =
  (addresses: ReadonlyArray<Resolved>): LookupFunction =>
  (_host, { all }, callback) => {
    const [first] = addresses
    if (all === true) callback(null, [...addresses])
    else callback(null, first?.address ?? "", first?.family)
  }

/** The bytes that a body holds, as one chunk. */
const nextOf = (body: Readable): Effect.Effect<Uint8Array | null, OutboundError> =>
  Effect.async((resume) => {
    const stop = () => {
      body.off("readable", look).off("end", look).off("error", fail).off("close", look)
    }
    const fail = () => {
      stop()
      resume(failed("connection"))
    }
    const look = () => {
      const chunk: unknown = body.read()
      if (chunk instanceof Uint8Array) {
        stop()
        resume(Effect.succeed(chunk))
      } else if (body.readableEnded) {
        stop()
        resume(Effect.succeed(null))
      } else if (body.destroyed) fail()
    }
    body.on("readable", look).once("end", look).once("error", fail).once("close", look)
    look()
    return Effect.sync(stop)
  })

const read = async (body: AsyncIterable<unknown>, maxBytes: number) => {
  const chunks: Array<Uint8Array> = []
  let left = maxBytes
  for await (const chunk of body) {
    if (!(chunk instanceof Uint8Array)) continue
    chunks.push(chunk.subarray(0, left))
    if (chunk.length > left) return { body: Buffer.concat(chunks), truncated: true }
    left -= chunk.length
  }
  return { body: Buffer.concat(chunks), truncated: false }
}

/**
 * Makes requests to addresses that users of the API choose. The name is resolved once, every address is judged, and the
 * connection goes to one of these addresses, with TLS verified for the name. Redirects are not followed.
 */
export class Outbound extends Effect.Service<Outbound>()("@coffer/server/Outbound", {
  effect: Effect.gen(function* () {
    const { outboundAllowNetworks } = yield* ServerConfig
    const { certificates, resolve } = yield* NetworkAccess
    const verdictOf = judge(outboundAllowNetworks)

    const resolved = (url: URL): Effect.Effect<ReadonlyArray<Resolved>, OutboundError> => {
      const literal = literalOf(url)
      return literal === null
        ? Effect.tryPromise({ try: () => resolve(url.hostname), catch: () => failed("no address") })
        : Effect.succeed([literal])
    }

    const judged = (url: URL, addresses: ReadonlyArray<Resolved>) =>
      Effect.gen(function* () {
        if (addresses.length === 0) return yield* failed("no address")
        const verdicts = addresses.map(({ address }): Verdict => verdictOf(address))
        if (verdicts.includes("refused")) return yield* failed("address refused")
        const isLocal = verdicts.every((verdict) => verdict === "listed loopback")
        return url.protocol === "https:" || isLocal ? addresses : yield* failed("scheme")
      })

    const vetted = (url: URL) => Effect.flatMap(resolved(url), (addresses) => judged(url, addresses))

    const agentFor = (addresses: ReadonlyArray<Resolved>, ca = certificates) =>
      Effect.map(
        library,
        ({ Agent }) =>
          new Agent({
            pipelining: 0,
            connect: {
              lookup: pinned(addresses),
              // Also when NODE_TLS_REJECT_UNAUTHORIZED=0 is set.
              rejectUnauthorized: true,
              ...(ca !== null && { ca })
            }
          })
      )

    const begin = (
      url: URL,
      dispatcher: Agent,
      { body, headers = {}, method = "GET" }: Omit<OutboundRequest, "maxBytes" | "timeout">,
      signal: AbortSignal
    ) =>
      dispatcher.request({
        origin: url.origin,
        path: `${url.pathname}${url.search}`,
        method,
        signal,
        // The name of the certificate follows the host header.
        headers: Object.entries(headers)
          .filter(([name]) => name.toLowerCase() !== "host")
          .flat(),
        body: body ?? null
      })

    const send = (url: URL, dispatcher: Agent, { maxBytes, ...request }: OutboundRequest) =>
      Effect.tryPromise({
        try: async (signal): Promise<OutboundResponse> => {
          const response = await begin(url, dispatcher, request, signal)
          return { status: response.statusCode, headers: response.headers, ...(await read(response.body, maxBytes)) }
        },
        catch: (error) => failed(reasonOf(error))
      })

    return {
      /** Judges a URL that is to be requested later: its form, and its host if that is an address. Names are not resolved. */
      check: (text: string): Effect.Effect<void, OutboundError> =>
        Effect.gen(function* () {
          const url = yield* targetOf(text)
          const literal = literalOf(url)
          if (literal !== null) yield* judged(url, [literal])
        }),

      /** Requests and reads the response while it comes. The time is that to its beginning. */
      open: ({
        timeout,
        ...request
      }: Omit<OutboundRequest, "maxBytes">): Effect.Effect<OutboundStream, OutboundError, Scope.Scope> =>
        Effect.gen(function* () {
          const url = yield* targetOf(request.url)
          const addresses = yield* vetted(url)
          const agent = yield* Effect.acquireRelease(agentFor(addresses, request.ca), (made) =>
            Effect.promise(() => made.destroy())
          )
          const { body, headers, statusCode } = yield* Effect.tryPromise({
            try: (signal) => begin(url, agent, request, signal),
            catch: (error) => failed(reasonOf(error))
          })
          return { status: statusCode, headers, next: nextOf(body) }
        }).pipe(Effect.timeoutFail({ duration: timeout, onTimeout: () => failed("timeout") })),

      request: (request: OutboundRequest): Effect.Effect<OutboundResponse, OutboundError> =>
        Effect.gen(function* () {
          const url = yield* targetOf(request.url)
          const addresses = yield* vetted(url)
          return yield* Effect.acquireUseRelease(
            agentFor(addresses, request.ca),
            (agent) => send(url, agent, request),
            (agent) => Effect.promise(() => agent.destroy())
          )
        }).pipe(Effect.timeoutFail({ duration: request.timeout, onTimeout: () => failed("timeout") }))
    } as const
  })
}) {}

import { createHash, createHmac } from "node:crypto"
import type { Placement } from "@coffer/domain/secrets/Placement"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"

/** A request that is about to leave. */
export interface Outgoing {
  readonly method: string
  readonly url: string
  /** Names in lowercase. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array | null
}

type Placed = Either.Either<Outgoing, string>

const withHeader = (outgoing: Outgoing, name: string, text: string): Placed => {
  if (Object.hasOwn(outgoing.headers, name)) return Either.left(`header ${name} is filled by a use rule: leave it out`)
  return /^[!-~](?:[ -~]*[!-~])?$/.test(text)
    ? Either.right({ ...outgoing, headers: { ...outgoing.headers, [name]: text } })
    : Either.left(`the value has characters that header ${name} cannot carry`)
}

const withParameter = (outgoing: Outgoing, name: string, value: string): Placed => {
  const { search } = new URL(outgoing.url)
  const isGiven = [...new URLSearchParams(search).keys()].some((key) => key.toLowerCase() === name.toLowerCase())
  if (isGiven) return Either.left(`parameter ${name} is filled by a use rule: leave it out`)
  const joint = search === "" ? "?" : "&"
  return Either.right({
    ...outgoing,
    url: `${outgoing.url.replace(/\?$/, "")}${joint}${name}=${encodeURIComponent(value)}`
  })
}

/** Puts the text at the `{}` of a format. */
const formatted = (format: string, text: string): string => format.split("{}").join(text)

/** Puts a value where a rule says. Says what is wrong, without the value, if that is impossible. */
export const placed = (outgoing: Outgoing, place: Exclude<Placement, { in: "aws-sigv4" }>, value: string): Placed => {
  switch (place.in) {
    case "header":
      return withHeader(outgoing, place.name, formatted(place.format, value))
    case "query":
      return withParameter(outgoing, place.name, value)
    case "basic":
      return withHeader(outgoing, "authorization", `Basic ${Buffer.from(`${place.user}:${value}`).toString("base64")}`)
    case "hmac-sha256": {
      const mac = createHmac("sha256", value).update(outgoing.body ?? new Uint8Array())
      return withHeader(outgoing, place.header, formatted(place.format, mac.digest("hex")))
    }
  }
}

/** The signatures that a rule has put into a request. Whoever gets one could send the request again. */
export const signaturesIn = ({ headers }: Outgoing, place: Placement): ReadonlyArray<string> => {
  const header = place.in === "hmac-sha256" ? place.header : place.in === "aws-sigv4" ? "authorization" : null
  return header === null ? [] : (headers[header]?.match(/[0-9a-f]{64}/g) ?? [])
}

class Sha256 {
  private readonly state
  constructor(secret?: string | ArrayBuffer | ArrayBufferView) {
    const key = secret === undefined || typeof secret === "string" ? secret : bytesOf(secret)
    this.state = key === undefined ? createHash("sha256") : createHmac("sha256", key)
  }
  update(data: string | ArrayBuffer | ArrayBufferView): void {
    this.state.update(typeof data === "string" ? data : bytesOf(data))
  }
  digest(): Promise<Uint8Array> {
    return Promise.resolve(this.state.digest())
  }
}

const bytesOf = (data: ArrayBuffer | ArrayBufferView): Uint8Array =>
  ArrayBuffer.isView(data) ? new Uint8Array(data.buffer, data.byteOffset, data.byteLength) : new Uint8Array(data)

const queryOf = (parameters: URLSearchParams): Record<string, Array<string>> => {
  const query: Record<string, Array<string>> = {}
  for (const [name, value] of parameters) (query[name] ??= []).push(value)
  return query
}

/** Signs a request for AWS (Signature Version 4). It comes last, because the signature covers the headers and the query. */
export const signed = (
  outgoing: Outgoing,
  place: Extract<Placement, { in: "aws-sigv4" }>,
  value: string
): Effect.Effect<Outgoing, string> => {
  if (Object.hasOwn(outgoing.headers, "authorization"))
    return Effect.fail("header authorization is filled by a use rule: leave it out")
  const url = new URL(outgoing.url)
  return Effect.map(
    Effect.promise(async () => {
      // Loaded on demand, because the library costs memory and startup time.
      const { SignatureV4 } = await import("@smithy/signature-v4")
      return new SignatureV4({
        service: place.service,
        region: place.region,
        credentials: { accessKeyId: place.access_key_id, secretAccessKey: value },
        sha256: Sha256,
        // S3 alone takes paths as they are.
        uriEscapePath: place.service !== "s3",
        applyChecksum: true
      }).sign({
        method: outgoing.method,
        protocol: url.protocol,
        hostname: url.hostname,
        path: url.pathname,
        query: queryOf(url.searchParams),
        headers: { ...outgoing.headers, host: url.host },
        ...(outgoing.body !== null && { body: outgoing.body })
      })
    }),
    ({ headers: { host: _host, ...headers } }) => ({ ...outgoing, headers })
  )
}

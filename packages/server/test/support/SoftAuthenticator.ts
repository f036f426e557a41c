import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from "node:crypto"
import type { Json } from "./Program.js"

type Cbor = number | string | Uint8Array | Map<number | string, Cbor>

/** The little of CBOR (RFC 8949) that an authenticator sends. */
const cbor = (value: Cbor): Buffer => {
  const head = (major: number, size: number): Buffer =>
    size < 24
      ? Buffer.from([(major << 5) | size])
      : size < 256
        ? Buffer.from([(major << 5) | 24, size])
        : Buffer.from([(major << 5) | 25, size >> 8, size & 255])
  if (typeof value === "number") return value < 0 ? head(1, -1 - value) : head(0, value)
  if (typeof value === "string") return Buffer.concat([head(3, Buffer.byteLength(value)), Buffer.from(value)])
  if (value instanceof Uint8Array) return Buffer.concat([head(2, value.length), value])
  return Buffer.concat([head(5, value.size), ...[...value].flatMap(([name, part]) => [cbor(name), cbor(part)])])
}

const base64url = (bytes: Uint8Array | string): string => Buffer.from(bytes).toString("base64url")

/** The mistakes that an authenticator or a browser may make. */
export interface Deviation {
  readonly origin?: string
  readonly rpId?: string
  readonly challenge?: string
  readonly type?: string
  readonly crossOrigin?: boolean
  readonly verified?: boolean
  readonly present?: boolean
  readonly counter?: number
  readonly fmt?: string
  readonly id?: string
  /** Signs with another key. */
  readonly key?: KeyObject
}

/** An authenticator with one credential, and the browser in front of it, for tests of what no real one sends. */
export class SoftAuthenticator {
  readonly id = base64url(randomBytes(16))
  readonly #pair = generateKeyPairSync("ec", { namedCurve: "P-256" })
  counter = 0

  constructor(
    private readonly origin: string,
    /** An authenticator without a counter says 0, always. */
    private readonly counts = true
  ) {}

  #clientData(type: string, options: Json, { challenge, crossOrigin = false, origin, ...other }: Deviation): Buffer {
    const data = { type: other.type ?? type, challenge: challenge ?? options.challenge, origin: origin ?? this.origin }
    return Buffer.from(JSON.stringify({ ...data, crossOrigin }))
  }

  #data(rpId: string, deviation: Deviation, attested?: Buffer): Buffer {
    if (this.counts) this.counter++
    const { counter = this.counter, present = true, verified = true } = deviation
    const flags = (present ? 1 : 0) | (verified ? 4 : 0) | (attested === undefined ? 0 : 64)
    const count = Buffer.alloc(4)
    count.writeUInt32BE(counter)
    const hash = createHash("sha256").update(deviation.rpId ?? rpId)
    return Buffer.concat([hash.digest(), Buffer.from([flags]), count, attested ?? Buffer.alloc(0)])
  }

  register(options: Json, deviation: Deviation = {}): Json {
    const { x = "", y = "" } = this.#pair.publicKey.export({ format: "jwk" })
    const publicKey = cbor(
      new Map<number, Cbor>([
        [1, 2],
        [3, -7],
        [-1, 1],
        [-2, Buffer.from(x, "base64url")],
        [-3, Buffer.from(y, "base64url")]
      ])
    )
    const id = Buffer.from(this.id, "base64url")
    const attested = Buffer.concat([Buffer.alloc(16), Buffer.from([0, id.length]), id, publicKey])
    const authData = this.#data(options.rp.id, deviation, attested)
    const { fmt = "none" } = deviation
    const statement = new Map<string, Cbor>(fmt === "none" ? [] : [["x5c", new Map()]])
    const attestationObject = cbor(
      new Map<string, Cbor>([
        ["fmt", fmt],
        ["attStmt", statement],
        ["authData", authData]
      ])
    )
    return {
      id: deviation.id ?? this.id,
      rawId: this.id,
      type: "public-key",
      clientExtensionResults: {},
      response: {
        clientDataJSON: base64url(this.#clientData("webauthn.create", options, deviation)),
        attestationObject: base64url(attestationObject),
        transports: ["internal", "of the future"]
      }
    }
  }

  prove(options: Json, deviation: Deviation = {}): Json {
    const clientData = this.#clientData("webauthn.get", options, deviation)
    const authData = this.#data(options.rpId, deviation)
    const signed = Buffer.concat([authData, createHash("sha256").update(clientData).digest()])
    return {
      id: deviation.id ?? this.id,
      type: "public-key",
      response: {
        clientDataJSON: base64url(clientData),
        authenticatorData: base64url(authData),
        signature: base64url(sign("sha256", signed, deviation.key ?? this.#pair.privateKey)),
        userHandle: null
      }
    }
  }
}

/** A person's operations with passkeys on a server whose browsers have an origin. */
export const passkeysOf = (call: (method: string, path: string, body?: unknown) => Promise<Json>, origin: string) => {
  const path = "/api/auth/passkeys"
  const registration = async (name: string, device = new SoftAuthenticator(origin)) => ({
    name,
    credential: device.register(await call("POST", `${path}/options`))
  })
  return {
    /** The body that registers a passkey. */
    registration,
    register: async (name: string, device = new SoftAuthenticator(origin)) => {
      const { id } = await call("POST", path, await registration(name, device))
      return { device, id: String(id) }
    },
    /** The body that proves the session. */
    proof: async (device: SoftAuthenticator) => ({
      credential: device.prove(await call("POST", `${path}/challenge`, {}))
    })
  }
}

import { createHmac } from "node:crypto"
import { request } from "node:https"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import * as Redacted from "effect/Redacted"
import { signatureOf } from "../../base/outbound/Signature.js"
import { parseBody } from "../../http/ParseJson.js"
import { tlsOf } from "./ConnectionTls.js"
import { ConnectionFailed, type ConnectionReason, type Kind, leasedUserForm, type Target } from "./Kind.js"

/** From the connection to the last byte. */
const mostMillis = 10_000
const mostBytes = 256 * 1024

type Action = "change" | "check" | "create" | "describe" | "extend" | "list" | "remove"

const failed = (reason: ConnectionReason) => new ConnectionFailed({ reason })

const reasonOf = (status: number): ConnectionReason | null => {
  if (status >= 200 && status < 300) return null
  if (status === 401) return "login refused"
  if (status === 403) return "not allowed"
  if (status === 404) return "no user"
  return status >= 500 ? "connection" : "statement refused"
}

/** Sends a body to the vetted address. Redirections are not followed, and nothing of a refusal is read. */
const send = (target: Target, signature: string, body: string): Effect.Effect<Uint8Array, ConnectionFailed> =>
  Effect.async((resume) => {
    const { address, database, host, port } = target
    const authority = host.includes(":") ? `[${host}]` : host
    const outgoing = request(
      {
        ...{ host: address, port, method: "POST", path: `/${encodeURIComponent(database)}`, agent: false },
        ...tlsOf(target),
        headers: {
          ...{ host: `${authority}:${port}`, "content-type": "application/json", accept: "application/json" },
          ...{ "content-length": Buffer.byteLength(body), "x-coffer-signature": signature }
        }
      },
      (response) => {
        const reason = reasonOf(response.statusCode ?? 500)
        if (reason !== null) return end(failed(reason))
        const chunks: Array<Buffer> = []
        let size = 0
        response.on("data", (chunk: Buffer) => {
          size += chunk.length
          if (size > mostBytes) return end(failed("connection"))
          chunks.push(chunk)
        })
        response.on("end", () => end(Effect.succeed(Buffer.concat(chunks))))
        response.on("error", () => end(failed("connection")))
      }
    )
    const timer = setTimeout(() => end(failed("timeout")), mostMillis)
    const end = (result: Effect.Effect<Uint8Array, ConnectionFailed>) => {
      clearTimeout(timer)
      outgoing.destroy()
      resume(result)
    }
    outgoing.on("error", (error) => {
      const code = Predicate.hasProperty(error, "code") && typeof error.code === "string" ? error.code : ""
      end(failed(/CERT|TLS|SSL|SELF_SIGNED|VERIFY/.test(code) ? "certificate" : "connection"))
    })
    outgoing.end(body)
    return Effect.sync(() => {
      clearTimeout(timer)
      outgoing.destroy()
    })
  })

/** Parses a response, a large one in the thread for bodies: admins of a tenant choose the program, and with it the text. */
const parsed = (body: Uint8Array): Effect.Effect<unknown, ConnectionFailed> =>
  body.length === 0 ? failed("connection") : Effect.mapError(parseBody(body), () => failed("connection"))

/** Asks the program. `before` runs between the signature and the request: a late one is too old for the program. */
const ask = <E = never>(
  target: Target,
  action: Action,
  fields: Readonly<Record<string, unknown>> = {},
  before: Effect.Effect<void, E> = Effect.void
) =>
  Effect.gen(function* () {
    const key = target.login.password
    const request = { action, login: target.login.user, ...fields }
    const id = createHmac("sha256", Redacted.value(key)).update(JSON.stringify(request)).digest("base64url")
    const body = JSON.stringify({ id, ...request })
    const signature = signatureOf([key], Math.floor((yield* Clock.currentTimeMillis) / 1_000), body)
    yield* before
    const found = yield* Effect.flatMap(send(target, signature, body), parsed)
    return Predicate.isRecord(found) ? found : yield* failed("connection")
  })

const secondsIn = (millis: number): number => Math.max(1, Math.ceil(millis / 1_000))

/** A program of the operator's own, which renews credentials of anything else. docs/rotations.md has its protocol. */
export const http: Kind = {
  abilities: (target) =>
    Effect.map(ask(target, "describe"), ({ may_change, may_create, version }) => ({
      version: typeof version === "string" ? version.slice(0, 40) : "",
      may_create: may_create === true,
      may_change: may_change === true
    })),

  change: (target, { password, user: username }, confirm) =>
    Effect.asVoid(ask(target, "change", { username, password: Redacted.value(password) }, confirm)),

  check: (target, { password, user: username }) =>
    Effect.flatMap(ask(target, "check", { username, password: Redacted.value(password) }), ({ ok }) =>
      ok === true ? Effect.void : failed("login refused")
    ),

  create: (target, { millis, name: username, password }, options, { confirm, isWanted }) => {
    const fields = { username, password: Redacted.value(password), expires_in: secondsIn(millis), options }
    return ask(target, "create", fields, isWanted).pipe(
      Effect.zipRight(confirm),
      Effect.onError(() => Effect.ignore(ask(target, "remove", { username, options: [] })))
    )
  },

  extend: (target, { millis, name: username }, confirm) =>
    Effect.zipRight(ask(target, "extend", { username, expires_in: secondsIn(millis) }), confirm),

  remove: (target, username, options) => Effect.asVoid(ask(target, "remove", { username, options })),

  leased: (target) =>
    Effect.map(ask(target, "list"), ({ usernames }) =>
      Array.isArray(usernames)
        ? usernames.filter((name): name is string => Predicate.isString(name) && leasedUserForm.test(name))
        : []
    ),

  urlOf: ({ host, port }, { password, user }) =>
    Redacted.make(
      `https://${encodeURIComponent(user)}:${encodeURIComponent(Redacted.value(password))}@${host.includes(":") ? `[${host}]` : host}:${port}`
    )
}

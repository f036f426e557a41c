import { generateKeyPairSync } from "node:crypto"
import { UserId } from "@coffer/domain/base/Ids"
import { authRepo } from "@coffer/server/access/caller/credentials/Repo"
import { Database } from "@coffer/server/database/Database"
import { query } from "@coffer/server/database/Query"
import { Effect } from "effect"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { newSession } from "../support/NewSession.js"
import type { Json } from "../support/Program.js"
import { email } from "../support/Services.js"
import { type Deviation, passkeysOf, SoftAuthenticator } from "../support/SoftAuthenticator.js"
import { type Pair, startPair } from "../authorization/Pair.js"
import { sceneSettings } from "../authorization/Scene.js"
import { people, word } from "../authorization/Service.js"
import { publicUrl } from "../federations/Signer.js"

// Claims that a passkey proves, and that no forged or repeated proof does.
// On PostgreSQL, a proof goes to another server than its challenge.

let pair: Pair

beforeAll(async () => {
  pair = await startPair(sceneSettings())
})

afterAll(async () => {
  await pair.stop()
})

type Headers = Readonly<Record<string, string>>

const passkeys = "/api/auth/passkeys"
const minute = 60_000

const send = async (headers: Headers, method: string, path: string, body?: unknown) => {
  const { status, text } = await pair.second.send({ method, path, headers, body })
  const json: Json = text.startsWith("{") ? JSON.parse(text) : undefined
  return { status, text, code: json?.error?.code as string | undefined, message: json?.error?.message as string, json }
}
const codeOf = async (...call: Parameters<typeof send>) => {
  const { code, status } = await send(...call)
  return code ?? status
}
const done = (headers: Headers, method: string, path: string, body?: unknown) =>
  pair.first.do(headers, method, path, body)

/** Changes rows as no call does: the clock of the servers is the real one. */
const change = (text: "age" | "old", id: string) =>
  pair.first.run(
    Effect.flatMap(Effect.all([Database, query]), ([{ transaction }, { write }]) =>
      transaction(
        text === "age"
          ? write`UPDATE passkey_challenges SET created_at = ${"then"}, expires_at = ${"now"} WHERE session_id = ${"id"}`(
              {
                id,
                then: new Date(Date.now() - 5 * minute).toISOString(),
                now: new Date().toISOString()
              }
            )
          : write`UPDATE sessions SET proven_at = ${"then"} WHERE id = ${"id"}`({
              id,
              then: new Date(Date.now() - 15 * minute).toISOString()
            })
      )
    )
  )

const someone = async () => {
  const address = `${word()}@example.com`
  const { headers, id } = await pair.first.person(email(address))
  /** Another session, as after a login by a code just now, or by the operator. */
  const session = async (provenBy: "login" | "operator" = "login") => {
    const { id: made, row, token } = newSession(UserId.make(id), new Date().toISOString(), provenBy)
    await pair.first.run(
      Effect.flatMap(Effect.all([Database, authRepo]), ([{ transaction }, repo]) =>
        transaction(repo.insertSession(row))
      )
    )
    return { id: made, headers: people(token) }
  }
  const register = (name: string, device?: SoftAuthenticator, as: Headers = headers) =>
    passkeysOf((...call) => done(as, ...call), publicUrl).register(name, device)
  return { address, id, headers, session, register }
}

const prove = async (headers: Headers, device: SoftAuthenticator, deviation: Deviation = {}, ask: object = {}) =>
  codeOf(headers, "POST", `${passkeys}/verify`, {
    credential: device.prove(await done(headers, "POST", `${passkeys}/challenge`, ask), deviation)
  })

/** Whether a session may make a call that needs a recent login. */
const may = async (headers: Headers) => codeOf(headers, "POST", `${passkeys}/options`)

describe("a person with a passkey", () => {
  it("proves with it what needs a recent login, and not with a new code", async () => {
    const ada = await someone()
    const other = await ada.session()
    assert.strictEqual(await may(other.headers), 200)
    const { device } = await ada.register("laptop")
    assert.strictEqual(await may(ada.headers), 200, "its registration was a proof")
    assert.strictEqual(await may(other.headers), "REAUTHENTICATE")
    const later = await ada.session()
    const refused = await send(later.headers, "POST", `${passkeys}/options`)
    assert.strictEqual(refused.code, "REAUTHENTICATE")
    assert.match(refused.message, /passkey.*coffer reauthenticate/)
    assert.strictEqual(await prove(later.headers, device), 200)
    assert.strictEqual(await may(later.headers), 200)
    assert.strictEqual(await may(other.headers), "REAUTHENTICATE", "another session of the person")
    assert.strictEqual(await may((await ada.session("operator")).headers), 200, "coffer-server session")
    const { data } = (await send(later.headers, "GET", passkeys)).json
    assert.deepStrictEqual(Object.keys(data[0]), ["id", "name", "created_at", "last_used_at"])
    assert.isNotNull(data[0].last_used_at)
  })

  it("registers the first one by a login of the last 15 minutes alone, in a terminal too", async () => {
    const ada = await someone()
    const terminal = await ada.session()
    const begun = await done(terminal.headers, "POST", `${passkeys}/options`)
    await change("old", terminal.id)
    assert.strictEqual(await may(terminal.headers), "REAUTHENTICATE")
    const credential = new SoftAuthenticator(publicUrl).register(begun)
    const made = await codeOf(terminal.headers, "POST", passkeys, { name: "laptop", credential })
    assert.strictEqual(made, "REAUTHENTICATE")
  })

  it("proves the session of a terminal from another one, and says when", async () => {
    const ada = await someone()
    const { device } = await ada.register("laptop")
    const terminal = await ada.session()
    const sessions = async () => (await send(terminal.headers, "GET", "/api/auth/sessions")).json.data
    const passkeyAt = async () => (await sessions()).find(({ current }: Json) => current).passkey_at
    assert.isUndefined(await passkeyAt())
    const bob = await someone()
    await bob.register("phone")
    const ask = { session_id: terminal.id }
    assert.strictEqual(await codeOf(bob.headers, "POST", `${passkeys}/challenge`, ask), "NOT_FOUND")
    assert.strictEqual(await prove(ada.headers, device, {}, ask), 200)
    assert.strictEqual(await may(terminal.headers), 200)
    assert.match(await passkeyAt(), /^20/)
    // It ended while the person looked for the passkey.
    const options = await done(ada.headers, "POST", `${passkeys}/challenge`, ask)
    await done(terminal.headers, "DELETE", "/api/auth/logout")
    const credential = device.prove(options)
    assert.strictEqual(await codeOf(ada.headers, "POST", `${passkeys}/verify`, { credential }), "INVALID_CODE")
  })

  it("has at most ten, each of its name and once", async () => {
    const ada = await someone()
    const { device } = await ada.register("key 0")
    const options = () => done(ada.headers, "POST", `${passkeys}/options`)
    const again = device.register(await options())
    assert.strictEqual(await codeOf(ada.headers, "POST", passkeys, { name: "again", credential: again }), "CONFLICT")
    const fresh = () => new SoftAuthenticator(publicUrl)
    const credential = fresh().register(await options())
    assert.strictEqual(await codeOf(ada.headers, "POST", passkeys, { name: "key 0", credential }), "CONFLICT")
    for (let index = 1; index < 9; index++) await ada.register(`key ${index}`)
    // The tenth and the eleventh began while there were nine.
    const two = [fresh().register(await options()), fresh().register(await options())]
    const statuses = await Promise.all(
      two.map((credential, index) =>
        [pair.first, pair.second][index]!.send({
          method: "POST",
          path: passkeys,
          headers: ada.headers,
          body: { name: `last ${index}`, credential }
        })
      )
    )
    assert.deepStrictEqual(statuses.map(({ status }) => status).sort(), [201, 409])
    assert.strictEqual(await may(ada.headers), "LIMIT_EXCEEDED")
  }, 60_000)

  it("removes a lost one after a new login, unless an organization says otherwise", async () => {
    const ada = await someone()
    const lost = await ada.register("lost")
    const other = await ada.register("other")
    const stale = await ada.session()
    await change("old", stale.id)
    const removal = (id: string) => ["DELETE", `${passkeys}/${id}`] as const
    assert.strictEqual(await codeOf(stale.headers, ...removal(lost.id)), "REAUTHENTICATE")
    const fresh = await ada.session()
    const bob = await someone()
    assert.strictEqual(await codeOf(bob.headers, ...removal(lost.id)), "NOT_FOUND")
    assert.strictEqual(await codeOf(fresh.headers, ...removal(lost.id)), 204)
    assert.strictEqual(await may(fresh.headers), "REAUTHENTICATE", "another one is left")

    const name = `org-${word()}`
    const org = `/api/orgs/${name}`
    await pair.first.asRoot("POST", "/api/orgs", { name })
    await pair.first.asRoot("POST", `${org}/members`, { email: ada.address, role: "owner" })
    const closed = { passkey_recovery: "none" }
    assert.strictEqual(await codeOf(fresh.headers, "PATCH", org, closed), "REAUTHENTICATE")
    assert.strictEqual((await send(ada.headers, "PATCH", org, closed)).json.passkey_recovery, "none")
    assert.strictEqual(await codeOf(fresh.headers, "PATCH", org, { name: `${name}-2` }), "REAUTHENTICATE")
    assert.strictEqual((await send(ada.headers, "PATCH", org, { name: `${name}-2` })).json.passkey_recovery, "none")
    const refused = await send(fresh.headers, ...removal(other.id))
    assert.strictEqual(refused.code, "FORBIDDEN")
    assert.include(refused.message, `organization ${name}-2`)
    assert.strictEqual(await codeOf((await ada.session("operator")).headers, ...removal(other.id)), 204)
    assert.strictEqual(await may(fresh.headers), 200, "none is left")

    const log = (await pair.first.asRoot("GET", "/api/audit-logs?limit=50")).data
    const told = log
      .filter(({ actor_name, action }: Json) => actor_name === ada.address && action.startsWith("passkey."))
      .map(({ action, metadata }: Json) => ({ action, ...metadata }))
    assert.deepStrictEqual(told, [
      { action: "passkey.delete", name: "other" },
      { action: "passkey.delete", name: "lost", recovery: true },
      { action: "passkey.create", name: "other" },
      { action: "passkey.create", name: "lost" }
    ])
  })

  it("has no passkey left when the account ends, and no passkey of a disabled account counts", async () => {
    const ada = await someone()
    const { device } = await ada.register("laptop")
    await pair.first.asRoot("POST", `/api/users/${ada.id}/disable`)
    await pair.first.asRoot("POST", `/api/users/${ada.id}/enable`)
    const back = await ada.session()
    assert.deepStrictEqual((await send(back.headers, "GET", passkeys)).json.data, [])
    assert.strictEqual(await may(back.headers), 200)
    assert.strictEqual(await codeOf(back.headers, "POST", `${passkeys}/challenge`, {}), "NOT_FOUND")
    await ada.register("laptop", device, back.headers)
  })
})

describe("a proof", () => {
  it("is refused unless everything in it fits, and then uses up its challenge", async () => {
    const ada = await someone()
    const { device } = await ada.register("laptop")
    const bob = await someone()
    const { device: his } = await bob.register("phone")
    const { headers } = await ada.session()
    const forged: ReadonlyArray<readonly [string, Deviation]> = [
      ["another origin", { origin: "https://coffer.example.org" }],
      ["the origin over http", { origin: publicUrl.replace("https", "http") }],
      ["another relying party", { rpId: "example.org" }],
      ["no verification of the person", { verified: false }],
      ["nobody present", { present: false }],
      ["another challenge", { challenge: "SplxlOBeZQQYbYS6WxSbIAGmRhmhcxhwAzkoEqiM-00" }],
      ["that of a registration", { type: "webauthn.create" }],
      ["a frame in another site", { crossOrigin: true }],
      ["another key", { key: generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey }],
      ["another person's credential", { id: his.id }],
      ["an unknown credential", { id: "AAAA" }]
    ]
    for (const [what, deviation] of forged) {
      assert.strictEqual(await prove(headers, device, deviation), "INVALID_CODE", what)
    }
    const forThem = his.prove(await done(headers, "POST", `${passkeys}/challenge`, {}))
    assert.strictEqual(await codeOf(headers, "POST", `${passkeys}/verify`, { credential: forThem }), "INVALID_CODE")
    // A right answer to a challenge that a wrong one has used up.
    const options = await done(headers, "POST", `${passkeys}/challenge`, {})
    const verify = (credential: Json, as = headers) => codeOf(as, "POST", `${passkeys}/verify`, { credential })
    assert.strictEqual(await verify(device.prove(options, { verified: false })), "INVALID_CODE")
    assert.strictEqual(await verify(device.prove(options)), "INVALID_CODE")
    assert.strictEqual(await may(headers), "REAUTHENTICATE")
    assert.strictEqual(await prove(headers, device), 200)
  })

  it("works once, for the session of its challenge, within five minutes", async () => {
    const ada = await someone()
    const { device } = await ada.register("laptop")
    const [one, other] = [await ada.session(), await ada.session()]
    const challenge = (headers: Headers): Promise<Json> => done(headers, "POST", `${passkeys}/challenge`, {})
    const verify = (headers: Headers, credential: Json) => codeOf(headers, "POST", `${passkeys}/verify`, { credential })
    const credential = device.prove(await challenge(one.headers))
    assert.strictEqual(await verify(other.headers, credential), "INVALID_CODE")
    assert.strictEqual(await verify(one.headers, credential), 200)
    assert.strictEqual(await verify(one.headers, credential), "INVALID_CODE")

    const old = await challenge(other.headers)
    await change("age", other.id)
    assert.strictEqual(await verify(other.headers, device.prove(old)), "INVALID_CODE")
    // Of six, the first is dropped.
    const six: Array<Json> = []
    while (six.length < 6) six.push(await challenge(other.headers))
    assert.strictEqual(await verify(other.headers, device.prove(six[0])), "INVALID_CODE")
    assert.strictEqual(await verify(other.headers, device.prove(six[1])), 200)

    for (let round = 0; round < 4; round++) {
      const twice = { credential: device.prove(await challenge(one.headers)) }
      const call = { method: "POST", path: `${passkeys}/verify`, headers: one.headers, body: twice }
      const both = await Promise.all([pair.first.send(call), pair.second.send(call)])
      assert.deepStrictEqual(both.map(({ status }) => status).sort(), [200, 401])
    }
  })

  it("is refused with a counter that went back, which the log says; one without a counter is fine", async () => {
    const ada = await someone()
    const { device } = await ada.register("laptop")
    const { headers } = await ada.session()
    assert.strictEqual(await prove(headers, device, { counter: 90 }), 200)
    for (const counter of [90, 89, 0]) assert.strictEqual(await prove(headers, device, { counter }), "INVALID_CODE")
    assert.strictEqual(await prove(headers, device, { counter: 91 }), 200)
    assert.strictEqual(await prove(headers, device, { counter: 0xffffffff }), 200)
    const { data } = await pair.first.asRoot("GET", "/api/audit-logs?action=auth.verify_failed&limit=1")
    const { actor_name, metadata } = data[0]
    assert.strictEqual(actor_name, ada.address)
    assert.deepInclude(metadata, { method: "passkey", passkey: "laptop" })
    assert.match(metadata.reason, /counter/)
    const silent = await ada.register("phone", new SoftAuthenticator(publicUrl, false))
    for (let round = 0; round < 2; round++) assert.strictEqual(await prove(headers, silent.device), 200)
  })
})

describe("a registration", () => {
  it("is refused unless everything in it fits", async () => {
    const ada = await someone()
    const attempt = async (deviation: Deviation, credential?: Json) => {
      const options = await done(ada.headers, "POST", `${passkeys}/options`)
      return codeOf(ada.headers, "POST", passkeys, {
        name: "laptop",
        credential: credential ?? new SoftAuthenticator(publicUrl).register(options, deviation)
      })
    }
    const forged: ReadonlyArray<readonly [string, Deviation]> = [
      ["another origin", { origin: "https://coffer.example.org" }],
      ["another relying party", { rpId: "example.org" }],
      ["no verification of the person", { verified: false }],
      ["another challenge", { challenge: "SplxlOBeZQQYbYS6WxSbIAGmRhmhcxhwAzkoEqiM-00" }],
      ["that of a proof", { type: "webauthn.get" }],
      ["a frame in another site", { crossOrigin: true }],
      ["a certificate", { fmt: "packed" }],
      ["another format", { fmt: "android-key" }],
      ["another id", { id: "AAAA" }]
    ]
    for (const [what, deviation] of forged) assert.strictEqual(await attempt(deviation), "INVALID_CODE", what)
    const response = { clientDataJSON: "AAAA", attestationObject: "AAAA" }
    assert.strictEqual(await attempt({}, { id: "AAAA", response }), "INVALID_CODE", "garbage")
    for (const credential of [
      {},
      null,
      { id: "a b", response },
      { id: "A".repeat(1_365), response },
      { id: "AAAA", response: { ...response, clientDataJSON: "A".repeat(8_193) } }
    ]) {
      assert.strictEqual(await attempt({}, credential ?? {}), "VALIDATION_ERROR")
    }
    const options = await done(ada.headers, "POST", `${passkeys}/options`)
    const device = new SoftAuthenticator(publicUrl)
    const credential = device.register(options)
    const bob = await someone()
    assert.strictEqual(await codeOf(bob.headers, "POST", passkeys, { name: "his", credential }), "INVALID_CODE")
    assert.strictEqual(await codeOf(ada.headers, "POST", passkeys, { name: "hers", credential }), 201)
    const again = await done(bob.headers, "POST", `${passkeys}/options`)
    const taken = { name: "his", credential: device.register(again) }
    assert.strictEqual(await codeOf(bob.headers, "POST", passkeys, taken), "CONFLICT")
  })
})

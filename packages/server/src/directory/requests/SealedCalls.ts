import type { DecryptionFailed } from "@coffer/domain/errors/Errors"
import type { EnvId, OrgId, ProjectId, RequestId } from "@coffer/domain/base/Ids"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Schema from "effect/Schema"
import { randomBytes } from "node:crypto"
import { forEachInSlices, mapInSlices, pacing } from "../../base/EventLoop.js"
import { Database } from "../../database/Database.js"
import { allPages } from "../../database/Pages.js"
import { query } from "../../database/Query.js"
import { parseBody } from "../../http/ParseJson.js"
import { decrypt, encrypt, lengthPrefixed, nonceBytes } from "../../keys/Keyring.js"
import { wrappedKeys } from "../../keys/WrappedKeys.js"
import { jsonPieces } from "./CallCodec.js"

/** About how many characters of a call one part holds. */
const partCharacters = 64 * 1024

const keyBytes = 32

/** Where a request belongs: its parts open nowhere else. */
export interface BodyPlace {
  readonly id: RequestId
  readonly orgId: OrgId
  readonly projectId: ProjectId
  readonly envId: EnvId
}

const PartRow = Schema.Struct({ part: Schema.Number, ciphertext: Schema.Uint8ArrayFromSelf })

const keyName = (id: RequestId): string => `request/${id}`

const dataOf = ({ envId, id, orgId, projectId }: BodyPlace, part: number) =>
  lengthPrefixed("coffer/request", orgId, projectId, envId, id, String(part))

/** Joins pieces to parts. */
function* inParts(pieces: Iterable<string>): Generator<string, void> {
  let some: Array<string> = []
  let size = 0
  for (const piece of pieces) {
    some.push(piece)
    size += piece.length
    if (size < partCharacters) continue
    yield some.join("")
    some = []
    size = 0
  }
  if (some.length > 0) yield some.join("")
}

/** The calls of pending requests: AES-256-GCM under a key of each request, bound to its environment. */
export const makeSealedCalls = Effect.gen(function* () {
  const { all, insert, write } = yield* query
  const keys = yield* wrappedKeys
  const { snapshot } = yield* Database
  const pages = yield* allPages

  const insertParts = insert("request_parts", ["request_id", "part", "ciphertext"])
  const page = all(PartRow)`
    SELECT part, ciphertext FROM request_parts WHERE request_id = ${"id"} AND part > ${"after"}
    ORDER BY part LIMIT ${"limit"}`
  const removeParts = write`DELETE FROM request_parts WHERE request_id = ${"id"}`

  /** Encrypts a call. Returns its size in bytes, and how to store it in the transaction. */
  const seal = Effect.fnUntraced(function* (place: BodyPlace, json: unknown) {
    const key = randomBytes(keyBytes)
    let last = -1
    const parts = yield* mapInSlices(inParts(jsonPieces(json)), (text) => {
      const part = ++last
      const ciphertext = encrypt(key, randomBytes(nonceBytes), dataOf(place, part), Buffer.from(text))
      return { request_id: place.id, part, ciphertext }
    })
    const wrapped = yield* keys.wrap(keyName(place.id), key)
    key.fill(0)
    return {
      bytes: parts.reduce((sum, part) => sum + part.ciphertext.length, 0),
      store: Effect.zipRight(keys.insert(wrapped), insertParts(parts))
    }
  })

  /** The key of a call and its encrypted parts. Null if it has ended, and its parts are gone. */
  const unwrapped = Effect.fnUntraced(function* (place: BodyPlace) {
    // A request that ends meanwhile would leave the key without the parts.
    const { key, rows } = yield* snapshot(
      Effect.all({
        key: keys.read(keyName(place.id)),
        rows: pages(
          -1,
          (after, limit) => page({ id: place.id, after, limit }),
          ({ part }) => part
        )
      })
    )
    return key === null ? null : { rows, key: Buffer.from(key) }
  })

  /** Decrypts a call to its JSON. Null if it has ended, and its parts are gone. */
  const open = Effect.fnUntraced(function* (place: BodyPlace) {
    const opened = yield* unwrapped(place)
    if (opened === null) return null
    const { key, rows } = opened
    const texts = yield* forEachInSlices(
      rows,
      ({ ciphertext, part }, expected): Effect.Effect<Buffer, DecryptionFailed> =>
        Effect.suspend(() => decrypt(key, dataOf(place, part === expected ? part : -1), ciphertext))
    )
    key.fill(0)
    return yield* Effect.orDie(parseBody(Buffer.concat(texts)))
  })

  /** Whether a call is this one. It is compared part by part until one differs. */
  const holds = Effect.fnUntraced(function* (place: BodyPlace, json: unknown) {
    const opened = yield* unwrapped(place)
    if (opened === null) return false
    const { key, rows } = opened
    const texts = inParts(jsonPieces(json))
    const pace = pacing()
    let isSame = true
    for (const { ciphertext, part } of rows) {
      yield* pace
      const own = texts.next()
      isSame =
        own.done !== true &&
        Either.match(decrypt(key, dataOf(place, part), ciphertext), {
          onLeft: () => false,
          onRight: (text) => text.equals(Buffer.from(own.value))
        })
      if (!isSame) break
    }
    key.fill(0)
    return isSame && texts.next().done === true
  })

  /** Erases a call. */
  const remove = (id: RequestId) => Effect.zipRight(removeParts({ id }), keys.remove(keyName(id)))

  return { seal, open, holds, remove } as const
})

import type { DecryptionFailed } from "@coffer/domain/errors/Errors"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { query, sql } from "../database/Query.js"
import { Keyring, unwrapBytes, type Wrapped, wrapBytes } from "./Keyring.js"
import { WrappedRow } from "./WrappedRows.js"

/** The end of the list of audit logs: the number of the last one and its link. */
export interface ListEnd {
  readonly number: number
  readonly chain: string
}

/** The end of the list without logs. */
export const emptyList: ListEnd = { number: 0, chain: "0".repeat(64) }

const checkText = "coffer master key check"
const Content = Schema.parseJson(Schema.Tuple(Schema.Literal(checkText), Schema.Number, Schema.String))
const decode = Schema.decodeUnknown(Content)

/**
 * The content of the wrapped key `check`: a text to check the master key with, and the end of the list of audit logs. No server
 * starts without this key. Elsewhere, whoever removes logs could remove the end with the list.
 */
export const checkContent = ({ chain, number }: ListEnd): Buffer =>
  Buffer.from(JSON.stringify([checkText, number, chain]))

/** The end of the list in the content of `check`; null if only programs without the list have used the database. */
export const endIn = (content: Uint8Array): Effect.Effect<ListEnd | null> => {
  const text = Buffer.from(content).toString()
  return text === checkText
    ? Effect.succeed(null)
    : Effect.map(Effect.orDie(decode(text)), ([, number, chain]) => ({ number, chain }))
}

/** Reads and moves the end of the list of audit logs. */
export const makeListEnd = Effect.gen(function* () {
  const keyring = yield* Keyring
  const { locking, one, write } = yield* query
  const check = sql`SELECT format, kek_id, nonce, ciphertext FROM wrapped_keys WHERE name = 'check'`
  const readCheck = one(WrappedRow)`${check}`
  const lockCheck = locking(WrappedRow)`${check}`
  const writeCheck = write`
    UPDATE wrapped_keys SET format = ${"format"}, kek_id = ${"kek_id"}, nonce = ${"nonce"}, ciphertext = ${"ciphertext"}
    WHERE name = 'check'`

  const opened = (row: Wrapped): Effect.Effect<ListEnd | null, DecryptionFailed> =>
    Effect.flatMap(unwrapBytes(keyring, "check", row), endIn)

  return {
    /** Fails with `DecryptionFailed` if another program changed it. */
    read: Effect.suspend(() => Effect.flatMap(readCheck({}), opened)),

    /** Locks the end until the end of the transaction. */
    lock: Effect.suspend(() =>
      Effect.flatMap(lockCheck({}), (rows) =>
        Effect.orDie(Effect.flatMap(rows?.[0] === undefined ? readCheck({}) : Effect.succeed(rows[0]), opened))
      )
    ),

    move: (end: ListEnd) =>
      Effect.flatMap(wrapBytes(keyring, "check", checkContent(end)), ({ ciphertext, format, kek_id, nonce }) =>
        writeCheck({ format, kek_id, nonce, ciphertext })
      )
  } as const
})

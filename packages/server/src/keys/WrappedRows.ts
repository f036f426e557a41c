import * as Schema from "effect/Schema"

/** The columns of a wrapped key. */
export const WrappedRow = Schema.Struct({
  format: Schema.Number,
  kek_id: Schema.String,
  nonce: Schema.Uint8ArrayFromSelf,
  ciphertext: Schema.Uint8ArrayFromSelf
})

export const NamedWrappedRow = Schema.Struct({ name: Schema.String, ...WrappedRow.fields })

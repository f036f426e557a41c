import { createHmac } from "node:crypto"
import * as Redacted from "effect/Redacted"

/** The header that proves who sent a body, and when: one `v1` for each key. */
export const signatureOf = (keys: ReadonlyArray<Redacted.Redacted>, seconds: number, body: string): string =>
  [
    `t=${seconds}`,
    ...keys.map((key) => {
      const hmac = createHmac("sha256", Redacted.value(key)).update(`${seconds}.${body}`)
      return `v1=${hmac.digest("hex")}`
    })
  ].join(",")

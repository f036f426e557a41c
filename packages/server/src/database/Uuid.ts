import { Clock, Effect } from "effect"
import { randomBytes, randomUUID } from "node:crypto"

/** A UUID of version 7 (RFC 9562, section 5.7): it sorts by time. */
export const uuidV7: Effect.Effect<string> = Effect.map(Clock.currentTimeMillis, (millis) => {
  const bytes = randomBytes(16)
  bytes.writeUIntBE(millis, 0, 6)
  bytes.writeUInt8((bytes.readUInt8(6) & 0x0f) | 0x70, 6)
  bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8)
  const hex = bytes.toString("hex")
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`
})

/** A UUID of version 4, which tells nothing about its age. */
export const uuidV4: Effect.Effect<string> = Effect.sync(() => randomUUID())

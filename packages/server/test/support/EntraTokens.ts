import { randomBytes, randomUUID } from "node:crypto"
import type { JWTPayload } from "jose"

/** The claims that a token of Entra has beside those of every provider: "ID token claims reference", version 2.0. */
export interface EntraPerson {
  /** Configured as an optional claim. A guest's may be one that the guest's own tenant does not vouch for. */
  readonly email?: unknown
  readonly preferred_username?: string
  /** Configured as an optional claim, and sent only together with `email`. */
  readonly xms_edov?: unknown
  /** Entra never sends it. */
  readonly email_verified?: unknown
}

/** Makes an ID token one of Entra's: its own claims, never `auth_time` or `email_verified` by itself. */
export const entraToken =
  (person: EntraPerson) =>
  ({
    acr: _acr,
    at_hash: _hash,
    auth_time: _time,
    email: _email,
    email_verified: _verified,
    ...claims
  }: JWTPayload) => ({
    ...claims,
    ver: "2.0",
    nbf: claims.iat ?? 0,
    aio: randomBytes(60).toString("base64"),
    name: "Ada Lovelace",
    oid: randomUUID(),
    preferred_username: "ada@example.com",
    rh: `0.${randomBytes(24).toString("base64url")}.`,
    tid: "8f3d1a4e-6f0b-4d55-9c1e-2c6c1f1c7a10",
    uti: randomBytes(16).toString("base64url"),
    ...person
  })

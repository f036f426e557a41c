/** Values that the provider's response to a login must match. */
export interface Checks {
  readonly state: string
  readonly nonce: string
  readonly verifier: string
}

/**
 * When the person must have proven at the provider who they are: at any time, in the last 15 minutes, or now. The browser can
 * change the request, so only the token's `auth_time` counts (OpenID Connect Core 1.0, 3.1.2.1 and 3.1.3.7).
 */
export type Proof = "any" | "recent" | "now"

/** The provider's claims about the person who has logged in. */
export interface Claims {
  readonly issuer: string
  readonly sub: string
  /** As the provider writes it; null without one. */
  readonly email: string | null
  readonly isVerified: boolean
  /** When the person proved who they are; null if the provider does not say, or that was not in the last 15 minutes. */
  readonly provenAt: string | null
  /** The names of the person's groups; none unless the server takes groups. */
  readonly groups: ReadonlyArray<string>
}

export const callbackPath = "/api/auth/oidc/callback"

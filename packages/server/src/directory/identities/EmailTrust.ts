import type { EmailTrust } from "../../base/config/IdentitySettings.js"

/** The claims of an ID token or a userinfo response. `xms_edov`: the owner of the address's domain has verified it (Entra). */
type Source = Readonly<Record<string, unknown>>

/** Entra documents a boolean, but its tokens have also had "1". */
const affirmed: ReadonlySet<unknown> = new Set([true, "true", 1, "1"])

/** Whether the claims have an address and say whether it is verified. Otherwise the userinfo endpoint is asked. */
export const isComplete = (trust: EmailTrust, { email, email_verified, xms_edov }: Source): boolean =>
  email !== undefined && (email_verified !== undefined || (trust === "edov" && xms_edov !== undefined))

/**
 * The person's address, and whether it counts as verified. The address and the claim that verifies it come from one source.
 * `email_verified` of either source prevails over the operator's trust.
 */
export const addressIn = (trust: EmailTrust, token: Source, info: Source) => {
  const source = isComplete(trust, token) ? token : info
  const email = source.email ?? (trust === "domains" ? token.email : undefined)
  const isAbsent = source.email_verified === undefined && token.email_verified === undefined
  const isTrusted = trust === "domains" || (trust === "edov" && affirmed.has(source.xms_edov))
  return {
    email: typeof email === "string" ? email : null,
    isVerified: source.email_verified === true || (isAbsent && isTrusted)
  }
}

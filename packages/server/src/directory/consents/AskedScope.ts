import { oauthScopes } from "@coffer/domain/directory/Consent"
import { type DelegablePermission, delegablePermissions } from "@coffer/domain/directory/Delegation"

/** The part of a person's rights that a program asks for at most. */
export interface AskedScope {
  readonly permission: DelegablePermission
  readonly reveal: boolean
}

/**
 * Reads a scope (RFC 6749, section 3.3). Words of others are ignored, since hosts add some of their own; null if there are only such.
 * Without a scope, the least that makes sense is asked for.
 */
export const askedScope = (text: string | null): AskedScope | null => {
  const words = (text ?? "").split(" ").filter((word) => word !== "")
  const known = oauthScopes.filter((scope) => words.includes(scope))
  if (words.length > 0 && known.length === 0) return null
  return {
    permission: delegablePermissions.findLast((one) => words.includes(one)) ?? "read",
    reveal: words.includes("reveal")
  }
}

/** The scope of a part of a person's rights, in words. */
export const scopeOf = ({ permission, reveal }: AskedScope): string => (reveal ? `${permission} reveal` : permission)

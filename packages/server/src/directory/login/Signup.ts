import type { Email } from "@coffer/domain/base/Names"
import type { Settings } from "../../base/Config.js"

/** Whether an address is of one of the domains, which are in lowercase. */
export const isOfDomain = (email: Email, domains: ReadonlyArray<string>): boolean =>
  domains.some((domain) => email.endsWith(`@${domain}`))

/** Whether an address may log in: an enabled user may, and others as far as sign-up is open to them. */
export const mayLogIn = (
  { signup, signupDomains }: Pick<Settings, "signup" | "signupDomains">,
  email: Email,
  user: { readonly disabled_at: string | null } | undefined
): boolean => (user === undefined ? signup === "open" || isOfDomain(email, signupDomains) : user.disabled_at === null)

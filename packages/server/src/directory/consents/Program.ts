import { DelegationName } from "@coffer/domain/directory/Delegation"
import * as Schema from "effect/Schema"

/** A program that asks for delegations: a client of OAuth (RFC 6749, section 2). All are public clients, without a secret. */
export interface Program {
  readonly id: string
  /** How it names itself. */
  readonly name: string
  /** The host of the document that describes it; null if nobody vouches for it. */
  readonly host: string | null
  readonly redirectUris: ReadonlyArray<string>
}

const longestName = 100

/** The name that a program gives itself, without characters that could hide or reorder others. */
export const programName = (text: string | undefined, fallback: string): string =>
  (text ?? "")
    .slice(0, longestName)
    .replace(/[\p{C}\p{Z}]+/gu, " ")
    .trim() || fallback

/** The name of its delegations, which the audit log has. One that nobody vouches for has no dots: it must not look like a host. */
export const delegationNameOf = ({ host, name }: Program): DelegationName => {
  const text = (host ?? name.replaceAll(".", "-")).replace(/[^A-Za-z0-9 ._-]+/g, " ").trim()
  const short = text
    .replace(/^[^A-Za-z0-9]+/, "")
    .slice(0, 64)
    .trim()
  return Schema.is(DelegationName)(short) ? short : DelegationName.make("a program")
}

import type { SecretId } from "@coffer/domain/base/Ids"
import type { SecretKey } from "@coffer/domain/base/Names"
import type { UseTerms } from "@coffer/domain/secrets/UseRule"
import type { Value } from "../../keys/Envelope.js"
import type { Passed } from "../references/Resolver.js"
import type { RuleRow } from "../use-rules/Repo.js"

/** A secret that a request may use, with the rule that says so. */
export interface PermittedSecret {
  readonly key: SecretKey
  readonly secretId: SecretId
  readonly version: number
  readonly rule: RuleRow
  readonly terms: UseTerms
  readonly value: Value
  /** The secrets that became part of it by references. */
  readonly passed: ReadonlyArray<Passed>
  /** The values of these that are long enough to be looked for in a response. */
  readonly parts: ReadonlyArray<Value>
}

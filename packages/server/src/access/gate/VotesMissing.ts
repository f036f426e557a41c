import type { EnvId, OrgId } from "@coffer/domain/base/Ids"
import type { OrgName } from "@coffer/domain/base/Names"
import { ApprovalRequired } from "@coffer/domain/errors/Errors"

/** The gate's refusal of a change that the votes of one protected environment would let through: it can be asked for. */
export class VotesMissing extends ApprovalRequired {
  constructor(
    message: string,
    readonly at: { readonly envId: EnvId; readonly org: { readonly id: OrgId; readonly name: OrgName } }
  ) {
    super({ message })
  }
}

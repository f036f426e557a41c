import type { EnvId, OrgId } from "@coffer/domain/base/Ids"
import type { OrgName } from "@coffer/domain/base/Names"
import { ApprovalRequired } from "@coffer/domain/errors/Errors"

/** The protected environment whose votes are missing. */
interface ProtectedAt {
  readonly envId: EnvId
  readonly org: { readonly id: OrgId; readonly name: OrgName }
}

/** The gate's refusal of a change that the votes of one protected environment would let through: it can be asked for. */
export class VotesMissing extends ApprovalRequired {
  declare readonly at: ProtectedAt

  static at(at: ProtectedAt, message: string): VotesMissing {
    return Object.assign(new VotesMissing({ message }), { at })
  }
}

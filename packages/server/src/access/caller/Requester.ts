import type { Actor, Caller } from "@coffer/domain/access/Actor"
import type { OrgId } from "@coffer/domain/base/Ids"

/**
 * Whoever asked for a change, when it is rehearsed or made: in the transaction of the caller who asks or votes. The credential was
 * validated in it, or the requester was read again by its identity.
 */
export class Requester implements Caller {
  constructor(
    readonly actor: Actor,
    readonly orgId: OrgId
  ) {}
}

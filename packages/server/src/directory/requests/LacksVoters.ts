import type { RequestKind } from "@coffer/domain/requests/ApprovalRequest"
import * as Effect from "effect/Effect"
import type { Place } from "../../access/Access.js"
import { makeProtections } from "../../access/gate/Protections.js"
import { couldPass } from "../../access/gate/Voting.js"
import { makeVotingMembers } from "../../access/gate/VotingMembers.js"
import type { Target } from "./Repo.js"
import { unprotected } from "./RequestViews.js"

/**
 * Says why nobody could ever give the votes of a request, which would wait until it ends; null if somebody could. Call it in a
 * transaction that holds the scope of the organization.
 */
export const makeLacksVoters = Effect.gen(function* () {
  const protections = yield* makeProtections
  const voting = yield* makeVotingMembers

  return Effect.fnUntraced(function* (
    { actor, org }: Place<"request.create">,
    { env, env_id: envId, project }: Target,
    kind: RequestKind
  ) {
    const terms = (yield* protections.find(envId)) ?? unprotected
    // People cannot grant themselves access.
    const self = terms.self && kind === "change"
    const requester = actor.type === "user" ? actor.email : null
    // An invited person may accept while the request waits.
    if (couldPass({ ...terms, self }, yield* voting.members(org.id, { invited: true }), requester)) return null
    const votes = terms.needed === 1 ? "the vote" : `the ${terms.needed} votes`
    const own = requester !== null && !self ? ", and your own does not count" : ""
    return `too few people could give ${votes} that ${project}/${env} needs for this${own}: nothing was changed and nothing waits. First let more people vote: invite them, give them the role that votes, or change the terms of the protection`
  })
})

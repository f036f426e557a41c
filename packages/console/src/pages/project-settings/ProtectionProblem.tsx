import type { OrgName } from "@coffer/domain/base/Names"
import type { Action } from "../../kit/Act.js"
import { Problem, sentence } from "../../kit/Problem.js"
import { Link } from "../../routing/Link.js"
import { orgAddress } from "../../routing/Places.js"

/** How the server begins the refusal of a protection that its only owner could never end. */
const refusal = /^nobody could end the protection of /

/** The people of that refusal who were invited, and have not accepted yet. */
const invited = /Not counted until .*$/

interface ProblemProps {
  readonly act: Action
  readonly org: OrgName
  /** The word of the button that writes. */
  readonly verb: string
  /** Lets the vote of the requester count. */
  readonly countOwn: () => void
  /** Lets the person change the environment at once. */
  readonly breakGlass: () => void
}

/** The failure of a form for a protection. For a lone owner, each way out is a control of the console. */
export const ProtectionProblem = ({ act, breakGlass, countOwn, org, verb }: ProblemProps) => {
  const failure = act.failure.value
  if (failure === null || !refusal.test(failure.message)) return <Problem failure={failure} />
  const [waiting] = invited.exec(failure.message) ?? []
  return (
    <div class="problem" role="alert">
      <p dir="auto">
        Nobody else could vote, so nobody could end this protection again. Choose a way out, then press {verb}.
        {waiting !== undefined && ` ${sentence(waiting)}`}
      </p>
      <button type="button" onClick={countOwn}>
        Count my own vote
      </button>
      <button type="button" onClick={breakGlass}>
        Let me break the glass
      </button>
      <Link to={orgAddress(org, "members")} class="button">
        Invite somebody
      </Link>
    </div>
  )
}

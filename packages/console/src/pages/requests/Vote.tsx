import type { Action } from "../../kit/Act.js"

interface VoteProps {
  readonly act: Action
  /** Whose request it is. */
  readonly of: string
  readonly approve: () => void
  readonly refuse: () => void
}

/** The buttons of whoever decides on a request. */
export const Vote = ({ act, approve, of, refuse }: VoteProps) => (
  <div class="row">
    <button type="button" class="primary" disabled={act.isBusy.value} onClick={approve}>
      Approve<span class="hidden"> the request of {of}</span>
    </button>
    <button type="button" disabled={act.isBusy.value} onClick={refuse}>
      Refuse<span class="hidden"> the request of {of}</span>
    </button>
  </div>
)

import { Problem } from "../kit/Problem.js"
import type { Refused } from "./Writes.js"

interface RefusedListProps {
  readonly refused: ReadonlyArray<Refused>
  /** The step that failed for the environment, as the end of a sentence. */
  readonly what: string
  /** Asks once more. */
  readonly retry?: () => void
}

/** Environments that were refused, each with the reason. */
export const RefusedList = ({ refused, retry, what }: RefusedListProps) => (
  <>
    {refused.map(({ env, failure }) => (
      <div key={env} class="refused">
        <p>
          <strong>{env}</strong> {what}:
        </p>
        <Problem failure={failure} {...(retry !== undefined && { retry })} />
      </div>
    ))}
  </>
)

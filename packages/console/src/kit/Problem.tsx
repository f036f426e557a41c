import type { Failure } from "../client/Calls.js"

/** Messages of errors begin in lowercase and have no full stop. An address or a path at the beginning stays as it is. */
export const sentence = (message: string): string => {
  const begin = /^[a-z]+(?=[ ,:])/.test(message) ? message.slice(0, 1).toUpperCase() + message.slice(1) : message
  return /[.!?]$/.test(begin) ? begin : `${begin}.`
}

/** What went wrong, with a way to try again if there is one. */
export const Problem = ({ failure, retry }: { readonly failure: Failure | null; readonly retry?: () => void }) =>
  failure === null ? null : (
    <div class="problem" role="alert">
      <p>{sentence(failure.message)}</p>
      {retry !== undefined && (
        <button type="button" onClick={retry}>
          Try again
        </button>
      )}
    </div>
  )

import type { Failure } from "../client/Calls.js"

/** Words that messages begin with. Anything else may be a name that a person has typed, and stays as it is. */
const openings = new Set(
  (
    "a account after an another approval at backup backups browsers cannot choose code confirm contains delivery " +
    "each email enter environment error event events expected expired field head if invalid it its key log login " +
    "logins member messages missing more must name no nobody not nothing one only organization pattern permission " +
    "person place please project reload request revision role rule secret server service session set such superadmin text " +
    "that the there these this to too try type unknown use user value verify version wait webhook what with you your"
  ).split(" ")
)

/** Makes a sentence of an error's message, which begins in lowercase and has no full stop. */
export const sentence = (message: string): string => {
  const [word = ""] = /^[a-z]+(?= )/.exec(message) ?? []
  const begin = openings.has(word) ? message.slice(0, 1).toUpperCase() + message.slice(1) : message
  return /[.!?]$/.test(begin) ? begin : `${begin}.`
}

/** The message of a failure, with a retry if there is one. A retry does not help against a missing right. */
export const Problem = ({ failure, retry }: { readonly failure: Failure | null; readonly retry?: () => void }) =>
  failure === null ? null : (
    <div class="problem" role="alert">
      <p dir="auto">{sentence(failure.message)}</p>
      {retry !== undefined && failure._tag !== "Forbidden" && (
        <button type="button" onClick={retry}>
          Try again
        </button>
      )}
    </div>
  )

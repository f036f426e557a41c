import { isConnected, isOutdated } from "../state/Connection.js"

import { pasteProblem } from "../staging/Pasted.js"

/** What concerns every page: a lost connection, and a newer server. */
export const StatusNotices = () => (
  <div class="lines" aria-live="polite">
    {!isConnected.value && (
      <p class="line bad">The connection to the server is lost. What you have entered stays; trying again…</p>
    )}
    {pasteProblem.value !== null && (
      <p class="line bad" role="alert">
        {pasteProblem.value}{" "}
        <button type="button" onClick={() => (pasteProblem.value = null)}>
          Dismiss
        </button>
      </p>
    )}
    {isOutdated.value && (
      <p class="line">
        The server has a newer console.{" "}
        <button type="button" onClick={() => location.reload()}>
          Reload
        </button>
      </p>
    )}
  </div>
)

import { isConnected, isOutdated } from "../state/Connection.js"

/** What concerns every page: a lost connection, and a newer server. */
export const StatusNotices = () => (
  <div class="lines" aria-live="polite">
    {!isConnected.value && (
      <p class="line bad">The connection to the server is lost. What you have entered stays; trying again…</p>
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

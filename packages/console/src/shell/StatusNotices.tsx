import * as Effect from "effect/Effect"
import { useAct } from "../kit/Act.js"
import { Problem } from "../kit/Problem.js"
import { Link } from "../routing/Link.js"
import { requestAddress, requestsAddress } from "../routing/Places.js"
import { pasteProblem } from "../staging/Pasted.js"
import { isConnected, isOutdated } from "../state/Connection.js"
import { forgetProposed, proposed } from "../state/Proposed.js"
import { forgetDone, lastDone, noteDone } from "../state/Done.js"
import { place } from "../routing/Router.js"
import { leave, release } from "../routing/Unsent.js"

/** The notice that changes became requests. */
const Proposed = () => {
  const found = proposed.value
  const [first, ...more] = found?.requests ?? []
  if (found === null || first === undefined) return null
  const what =
    more.length > 0 ? `${more.length + 1} requests wait` : `Your request for ${first.project}/${first.env} waits`
  return (
    <p class="line asked">
      <span>
        {what} for approval; nothing was changed yet.{" "}
        <Link to={more.length > 0 ? requestsAddress(found.org) : requestAddress(found.org, first.id)}>
          {more.length > 0 ? "See the requests" : "See the request"}
        </Link>
      </span>{" "}
      <button type="button" onClick={forgetProposed}>
        Dismiss
      </button>
    </p>
  )
}

/** The notice of what was done, with its undo. */
const Done = () => {
  const act = useAct()
  const found = lastDone.value
  if (found === null || found.at !== place.value) return null
  const { undo, what } = found
  return (
    <div class="line asked">
      <span dir="auto">{what}</span>
      <span class="space" />
      {undo !== null && (
        <button
          type="button"
          disabled={act.isBusy.value}
          onClick={() => {
            // One that needs votes became a request: the line of that request says so.
            const effect = Effect.tapError(undo.effect, ({ _tag }) =>
              Effect.sync(() => {
                if (_tag === "ChangeRequested") forgetDone()
              })
            )
            act.run(effect, () => {
              // It may open the place of before, which is the page that says it.
              undo.done()
              noteDone("It was taken back.")
            })
          }}
        >
          Undo
        </button>
      )}
      <button type="button" class="plain" onClick={forgetDone}>
        Dismiss
      </button>
      <Problem failure={act.failure.value} />
    </div>
  )
}

const reload = () => {
  leave("console", () => {
    release()
    location.reload()
  })
}

/** The notices for every page: a lost connection, a newer server, what was done, and the requests that were made. */
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
    <Proposed />
    <Done key={lastDone.value?.what} />
    {isOutdated.value && (
      <p class="line">
        The server has a newer console.{" "}
        <button type="button" onClick={reload}>
          Reload
        </button>
      </p>
    )}
  </div>
)

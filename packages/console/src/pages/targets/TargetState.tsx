import type { Target } from "@coffer/domain/secrets/Target"
import { Ahead, When } from "../../kit/When.js"

/** The place on the platform, by the fields of its kind. */
export const placeText = ({ place }: Target): string =>
  Object.entries(place)
    .map(([field, text]) => `${field}=${text.includes("\n") ? "…" : text}`)
    .join(" ")

/** How a key, or the worst one of a target, is there. */
export const StateBadge = ({ state }: { readonly state: string }) => (
  <span class={`badge${state === "in step" ? " good" : state === "unknown" ? "" : " warn"}`}>{state}</span>
)

/** How what was pushed is there, and what keeps the server from pushing. */
export const State = ({ target: { checked_at, paused, problem, retry_at, state } }: { readonly target: Target }) => (
  <>
    {state === null ? <span class="quiet">not checked</span> : <StateBadge state={state} />}{" "}
    {checked_at !== null && (
      <span class="quiet">
        <When time={checked_at} />
      </span>
    )}
    {paused !== null && (
      <div>
        <span class="badge warn">paused</span> {paused.replace(/^paused /, "")}
      </div>
    )}
    {problem !== null && (
      <div>
        <span class="badge warn">failing</span> {problem}
        {retry_at !== null && (
          <>
            {" "}
            · next try <Ahead time={retry_at} />
          </>
        )}
      </div>
    )}
  </>
)

export const Pushed = ({ target: { pushed_at, pushed_revision } }: { readonly target: Target }) =>
  pushed_at === null ? (
    <span class="quiet">never</span>
  ) : (
    <>
      revision {pushed_revision}, <When time={pushed_at} />
    </>
  )

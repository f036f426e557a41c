import * as Predicate from "effect/Predicate"
import { useEffect, useRef } from "preact/hooks"
import { useAct } from "../kit/Act.js"
import { plainCall } from "../client/Client.js"
import { Link } from "../routing/Link.js"
import { serverAddress } from "../routing/Places.js"
import { me, noteEnd } from "../state/Session.js"
import { leave, release } from "../routing/Unsent.js"

/** The menu with the logged-in person and the logout. */
export const AccountMenu = () => {
  const act = useAct()
  const menu = useRef<HTMLDetailsElement>(null)
  const shut = () => {
    if (menu.current !== null) menu.current.open = false
  }
  useEffect(() => {
    const press = ({ target }: Event) => {
      if (target instanceof Node && menu.current?.contains(target) !== true) shut()
    }
    document.addEventListener("click", press)
    return () => {
      document.removeEventListener("click", press)
    }
  }, [])
  const person = me.value
  if (person === null) return null
  const logOut = () => {
    act.run(
      plainCall("auth", (api) => api.logout()),
      (response: unknown) => {
        noteEnd()
        // No content, unless the provider of single sign-on has a logout of its own.
        const next = Predicate.hasProperty(response, "provider_logout_url") ? response.provider_logout_url : undefined
        release()
        location.assign(typeof next === "string" ? next : "/login")
      }
    )
  }
  return (
    <details
      class="menu"
      ref={menu}
      onKeyDown={({ key }) => {
        if (key !== "Escape") return
        shut()
        menu.current?.querySelector("summary")?.focus()
      }}
    >
      <summary aria-label={`Account of ${person.email}`}>{person.email.slice(0, 1).toUpperCase()}</summary>
      <div class="sheet">
        <p class="quiet">{person.email}</p>
        <p onClick={shut}>
          <Link to={serverAddress("account")}>My account</Link>
        </p>
        <button
          type="button"
          disabled={act.isBusy.value}
          onClick={() => {
            leave("console", logOut)
          }}
        >
          Log out
        </button>
      </div>
    </details>
  )
}

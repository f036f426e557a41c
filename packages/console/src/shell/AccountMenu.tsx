import { useSignal } from "@preact/signals"
import * as Predicate from "effect/Predicate"
import { useAct } from "../kit/Act.js"
import { MenuItem, Popover } from "../kit/Menu.js"
import { Disc } from "../kit/Person.js"
import { Problem } from "../kit/Problem.js"
import { plainCall } from "../client/Client.js"
import { serverAddress } from "../routing/Places.js"
import { navigate } from "../routing/Router.js"
import { me, noteEnd } from "../state/Session.js"
import { forgetVisited } from "../state/Visited.js"
import { serverVersion } from "../state/ServerVersion.js"
import { themes } from "../state/StoredTheme.js"
import { chooseTheme, theme } from "../state/Theme.js"
import { leave, release } from "../routing/Unsent.js"

/** The menu of the logged-in person: the account, its sessions, the colours, the versions, the logout. */
export const AccountMenu = () => {
  const act = useAct()
  const version = useSignal("…")
  const person = me.value
  if (person === null) return null
  const logOut = () => {
    act.run(
      plainCall("auth", (api) => api.logout()),
      (response: unknown) => {
        noteEnd()
        forgetVisited()
        // No content, unless the provider of single sign-on has a logout of its own.
        const next = Predicate.hasProperty(response, "provider_logout_url") ? response.provider_logout_url : undefined
        release()
        location.assign(typeof next === "string" ? next : "/login")
      }
    )
  }
  return (
    <div class="account">
      <Popover
        label={`Account of ${person.email}`}
        class="plain account-button"
        role="menu"
        button={
          <>
            <Disc address={person.email} />
            <bdi class="account-address">{person.email}</bdi>
          </>
        }
        opened={() => {
          void serverVersion().then((found) => (version.value = found))
        }}
      >
        <p class="menu-note">
          <bdi>{person.email}</bdi>
        </p>
        <MenuItem run={() => navigate(serverAddress("account"))}>My account and sessions</MenuItem>
        <div class="menu-group" role="group" aria-label="Colours">
          {themes.map((one) => (
            <MenuItem key={one} isChosen={theme.value === one} run={() => chooseTheme(one)}>
              {one === "system" ? "Colours of the system" : one === "light" ? "Light" : "Dark"}
            </MenuItem>
          ))}
        </div>
        <MenuItem run={() => leave("console", logOut)} why={act.isBusy.value ? "…" : null}>
          Log out
        </MenuItem>
        <p class="menu-note quiet">
          Console {import.meta.env["VITE_VERSION"]}, server {version.value}
        </p>
      </Popover>
      <Problem failure={act.failure.value} />
    </div>
  )
}

import type { EnvName, OrgName, ProjectName } from "@coffer/domain/base/Names"
import { Check, X } from "lucide"
import type { ComponentChildren } from "preact"
import { CopyText } from "./CopyText.js"
import { Icon } from "./Icon.js"
import { Link } from "../routing/Link.js"
import { orgAddress, serverAddress } from "../routing/Places.js"
import { navigate } from "../routing/Router.js"
import { endFirstRun, firstRun, noteBegun, type Start, starts } from "../state/FirstRun.js"
import { facts } from "../state/Server.js"
import { me } from "../state/Session.js"
import "./FirstRun.css"

interface ChecklistProps {
  readonly org: OrgName
  readonly project: ProjectName
  /** The environment of the line that runs a program. */
  readonly env: EnvName | undefined
}

/** After the first secrets: what makes them of use. It stays until all of it was begun, or until it is dismissed. */
export const Checklist = ({ env, org, project }: ChecklistProps) => {
  const now = firstRun.value
  if (now?.org !== org || env === undefined) return null
  const shown = starts.filter(
    (one) => one !== "backup" || (me.value?.is_superadmin === true && facts.value?.backups === true)
  )
  const begin = (one: Start) => {
    noteBegun(one, shown)
  }
  const to = (one: Start, address: string, words: string) => (
    <Link
      to={address}
      open={() => {
        begin(one)
        navigate(address)
      }}
    >
      {words}
    </Link>
  )
  const line = `coffer run ${org}/${project}/${env} -- npm start`
  const items: Readonly<Record<Start, ComponentChildren>> = {
    run: (
      <>
        Run a program with these secrets: <code>{line}</code>{" "}
        <CopyText label="Copy the line" text={line} copied={() => begin("run")} />
      </>
    ),
    invite: to("invite", `${orgAddress(org, "members")}?new=1`, "Invite a colleague"),
    ci: to("ci", `${orgAddress(org, "accounts")}?new=1`, "Connect a pipeline or a machine"),
    backup: to("backup", serverAddress("backups"), "Take a backup, and keep the master key elsewhere")
  }
  return (
    <section class="first-list" aria-labelledby="first-list">
      <header>
        <h2 id="first-list">Next</h2>
        <button type="button" class="plain" onClick={endFirstRun}>
          <Icon of={X} />
          Dismiss
        </button>
      </header>
      <ul>
        {shown.map((one) => (
          <li key={one} class={now.begun.includes(one) ? "done" : undefined}>
            <span class="first-number" aria-hidden="true">
              {now.begun.includes(one) && <Icon of={Check} />}
            </span>
            <span>
              {items[one]}
              {now.begun.includes(one) && <span class="hidden">, begun</span>}
            </span>
          </li>
        ))}
      </ul>
    </section>
  )
}

import type { Target } from "@coffer/domain/secrets/Target"
import { useSignal } from "@preact/signals"
import * as Effect from "effect/Effect"
import { call } from "../../client/Calls.js"
import { AskAccess } from "../../kit/AskAccess.js"
import { useAct } from "../../kit/Act.js"
import { Dialog } from "../../kit/Dialog.js"
import { DeleteDialog } from "../../kit/Delete.js"
import { useEnvChoice } from "../../kit/EnvChoice.js"
import { Empty, ListPage, NewButton } from "../../kit/ListPage.js"
import { useLoad } from "../../kit/Load.js"
import { Menu, MenuItem } from "../../kit/Menu.js"
import { useOpened } from "../../kit/Opened.js"
import { By } from "../../kit/Person.js"
import { usePoll } from "../../kit/Poll.js"
import { Problem } from "../../kit/Problem.js"
import { Link } from "../../routing/Link.js"
import { noteDone } from "../../state/Done.js"
import type { PageProps } from "../PageProps.js"
import { Automatic } from "./Automatic.js"
import { CheckDialog } from "./CheckDialog.js"
import { NewTarget } from "./NewTarget.js"
import { PushDialog } from "./PushDialog.js"
import { type EnvPath, readTargets } from "./TargetsRead.js"
import { placeText, Pushed, State } from "./TargetState.js"

/** How often the states are read: the server pushes and checks by itself. */
const pollMillis = 15_000

/** The facts of a target that the list does not show. */
const Facts = ({ close, target }: { readonly target: Target; readonly close: () => void }) => {
  const { created_at, created_by, credential_key, failures, keys, owned, prefix, pushes_as, remove } = target
  return (
    <Dialog title={target.name} class="drawer" close={close}>
      <dl class="facts">
        <dt>Platform</dt>
        <dd>{target.kind}</dd>
        <dt>Place</dt>
        <dd>
          <code>{placeText(target)}</code>
        </dd>
        <dt>Credential</dt>
        <dd>
          <code>{credential_key}</code>
        </dd>
        <dt>Keys</dt>
        <dd>{keys.length === 0 ? "all" : <code>{keys.join(" ")}</code>}</dd>
        <dt>Names there</dt>
        <dd>
          {prefix !== null && (
            <>
              <code>{prefix}</code> before each{" "}
            </>
          )}
          {Object.entries(target.rename).map(([key, there]) => (
            <div key={key}>
              <code>
                {key} → {there}
              </code>
            </div>
          ))}
        </dd>
        <dt>State</dt>
        <dd>
          <State target={target} />
          {failures > 0 && <div>{failures} failed tries in a row</div>}
        </dd>
        <dt>Pushed</dt>
        <dd>
          <Pushed target={target} />, {owned} keys written there
        </dd>
        <dt>Removal</dt>
        <dd>{remove}</dd>
        <dt>Automatic</dt>
        <dd>
          {target.automatic}
          {target.automatic !== "off" && `, by the rights of ${pushes_as ?? "nobody"}`}
        </dd>
        <dt>Created</dt>
        <dd>
          <By time={created_at} who={created_by} />
        </dd>
      </dl>
    </Dialog>
  )
}

interface RowProps {
  readonly path: EnvPath
  readonly target: Target
  readonly changed: () => void
  /** Opens the facts. */
  readonly show: () => void
}

const Row = ({ changed, path, show, target }: RowProps) => {
  const open = useSignal<"automatic" | "check" | "delete" | "push" | null>(null)
  const act = useAct()
  const { automatic, name, paused } = target
  const at = { ...path, target_name: name }
  const close = () => (open.value = null)
  const pause = (paused: boolean) => call("targets", (api) => api.update({ path: at, payload: { paused } }))
  const dialog = { path, target, close, done: changed }
  return (
    <tr>
      <th scope="row">
        <Link to={`?env=${path.env_name}&target=${name}`} class="row-link" open={show}>
          {name}
        </Link>
      </th>
      <td>{target.kind}</td>
      <td>
        <span class="key">{placeText(target)}</span>
      </td>
      <td>
        <State target={target} />
        <Problem failure={act.failure.value} />
      </td>
      <td>{automatic}</td>
      <td>
        <Pushed target={target} />
      </td>
      <td class="actions">
        <Menu label={`Actions for ${name}`}>
          <MenuItem run={() => (open.value = "push")}>
            Plan a push<span class="hidden"> to {name}</span>
          </MenuItem>
          <MenuItem run={() => (open.value = "check")}>
            Check<span class="hidden"> {name}</span>
          </MenuItem>
          <MenuItem run={() => (open.value = "automatic")}>
            Automatic pushes<span class="hidden"> to {name}</span>
          </MenuItem>
          <MenuItem
            run={() => {
              const isPaused = paused !== null
              act.run(pause(!isPaused), () => {
                noteDone(`${name} is ${isPaused ? "resumed" : "paused"}.`, { effect: pause(isPaused), done: changed })
                changed()
              })
            }}
          >
            {paused === null ? "Pause" : "Resume"}
            <span class="hidden"> {name}</span>
          </MenuItem>
          <MenuItem run={() => (open.value = "delete")}>
            Delete<span class="hidden"> {name}</span>
          </MenuItem>
        </Menu>
        {open.value === "push" && <PushDialog {...dialog} />}
        {open.value === "automatic" && <Automatic {...dialog} />}
        {open.value === "check" && (
          <CheckDialog
            {...dialog}
            close={() => {
              close()
              changed()
            }}
          />
        )}
        {open.value === "delete" && (
          <DeleteDialog
            what="target"
            name={name}
            remove={call("targets", (api) => api.delete({ path: at }))}
            done={changed}
            close={close}
          >
            <p>Nothing more is pushed to it. What is on the platform stays there.</p>
          </DeleteDialog>
        )}
      </td>
    </tr>
  )
}

/** The places on other platforms that secrets of an environment are pushed to. */
export const Page = ({ place: { org, project } }: PageProps<"project">) => {
  const { choice, env } = useEnvChoice(org, project)
  const path = env === undefined ? null : { org_name: org, project_name: project, env_name: env }
  const targets = useLoad(env ?? "", () => (path === null ? Effect.succeed(null) : readTargets(path)))
  const isNew = useOpened("new")
  const shown = useOpened("target")
  const { isLoading, value } = targets.loaded.value
  const target = value?.find(({ name }) => name === shown.value)
  usePoll(targets, value === null ? null : pollMillis)
  return (
    <>
      <ListPage
        title="Targets"
        about="Platforms that secrets are pushed to, with a plan before each push and a check afterwards."
        create={value !== null && <NewButton open={isNew.open}>New target</NewButton>}
        choice={choice}
        of={targets}
        heads={["Name", "Platform", "Place", "State", "Automatic", "Pushed", ""]}
        textOf={(one) => `${one.name} ${one.kind} ${placeText(one)}`}
        empty={<Empty title="There are no targets yet" />}
        row={(one) =>
          path !== null && (
            <Row key={one.name} path={path} target={one} changed={targets.reload} show={() => shown.open(one.name)} />
          )
        }
      >
        {env !== undefined && value === null && !isLoading && targets.loaded.value.failure === null && (
          <Empty title={`You may not see the targets of ${env}`}>
            <p>They are for people with the permission admin there.</p>
            <AskAccess org={org} project={project} envs={[env]} permission="admin" />
          </Empty>
        )}
      </ListPage>
      {path !== null && isNew.value !== null && value !== null && (
        <NewTarget path={path} close={isNew.close} done={targets.reload} />
      )}
      {target !== undefined && <Facts target={target} close={shown.close} />}
    </>
  )
}

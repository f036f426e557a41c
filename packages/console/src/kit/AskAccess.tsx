import type { Permission } from "@coffer/domain/access/AclRule"
import type { EnvName, OrgName, ProjectName } from "@coffer/domain/base/Names"
import { useSignal } from "@preact/signals"
import { mayBeGiven } from "../client/Organizations.js"
import { useLazy } from "./Lazy.js"

interface AskAccessProps {
  readonly org: OrgName
  readonly project: ProjectName
  /** The environments that the person lacks a right in. */
  readonly envs: ReadonlyArray<EnvName>
  readonly permission: Permission
}

/** A button for whoever lacks a right: asks for access for a while. */
export const AskAccess = (props: AskAccessProps) => {
  const isOpen = useSignal(false)
  const loaded = useLazy(isOpen.value, async () => (await import("./AskAccessDialog.js")).AskAccessDialog)
  if (props.envs.length === 0 || !mayBeGiven(props.org, props.permission)) return null
  return (
    <>
      <button type="button" onClick={() => (isOpen.value = true)}>
        Ask for access…
      </button>
      {isOpen.value && loaded !== null && <loaded.Part {...props} close={() => (isOpen.value = false)} />}
    </>
  )
}

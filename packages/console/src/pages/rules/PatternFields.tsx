import { type Permission, permissions } from "@coffer/domain/access/AclRule"
import { Pattern } from "@coffer/domain/base/Pattern"
import { type Signal, useSignal } from "@preact/signals"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { Choose } from "../../kit/Choose.js"
import { TextField } from "../../kit/TextField.js"

const decode = Schema.decodeUnknownOption(Pattern)

/** The environments and the permission of a rule as they are typed, and the patterns that are complete. */
export interface TypedPatterns {
  readonly projects: Signal<string>
  readonly envs: Signal<string>
  readonly permission: Signal<Permission>
  readonly project: Pattern | null
  readonly env: Pattern | null
}

export const useTypedPatterns = (): TypedPatterns => {
  const projects = useSignal("")
  const envs = useSignal("")
  const permission = useSignal<Permission>("read")
  const project = Option.getOrNull(decode(projects.value))
  const env = Option.getOrNull(decode(envs.value))
  return { projects, envs, permission, project, env }
}

interface PatternFieldsProps {
  readonly of: TypedPatterns
  /** The rule for patterns, below each field. */
  readonly hint?: string
}

/** The fields for the environments and the permission of a rule. */
export const PatternFields = ({ hint, of: { env, envs, permission, project, projects } }: PatternFieldsProps) => (
  <>
    <TextField
      label="Projects"
      text={projects}
      placeholder="web*"
      maxLength={200}
      isBad={projects.value !== "" && project === null}
      hint={hint}
    />
    <TextField
      label="Environments"
      text={envs}
      placeholder="{dev,staging}"
      maxLength={200}
      isBad={envs.value !== "" && env === null}
      hint={hint}
    />
    <Choose label="May" value={permission.value} words={permissions} choose={(word) => (permission.value = word)} />
  </>
)

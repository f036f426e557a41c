import type { OrgName, ProjectName } from "@coffer/domain/base/Names"
import { type Signal, signal } from "@preact/signals"

const opened = new Map<string, Signal<boolean>>()

/** Whether a person has opened the previews of a project, as long as the page is open. */
export const openedOf = (org: OrgName, project: ProjectName): Signal<boolean> => {
  const name = `${org}/${project}`
  const found = opened.get(name) ?? signal(false)
  opened.set(name, found)
  return found
}

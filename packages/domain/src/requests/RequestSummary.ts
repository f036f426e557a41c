/** The words for a requested change, which its environment follows: `set 2 secrets in`, `delete the environment`. */
interface RequestedChange {
  readonly call?: string | undefined
  readonly keys?: ReadonlyArray<{ readonly key: string; readonly change: string }> | undefined
}

/** Calls that are about no single secret. */
const ofPlaces: Readonly<Record<string, string>> = {
  "environments.delete": "delete the environment",
  "environments.extend": "change the end of",
  // The place that gets a name may be another one than what is protected and had it: the details have both.
  "environments.create": "create an environment, by the votes of",
  "projects.create": "create a project, by the votes of",
  "projects.rename": "rename a project, by the votes of",
  "organizations.create": "create an organization, by the votes of",
  "organizations.update": "rename an organization, by the votes of",
  "projects.delete": "delete the project of",
  "organizations.delete": "delete the organization of",
  "trash.restoreEnvironment": "restore the removed environment",
  "trash.restoreProject": "restore the removed project of",
  "trash.eraseEnvironment": "erase for good the removed environment",
  "trash.eraseProject": "erase for good the removed project of",
  "connections.create": "add a connection to",
  "connections.delete": "delete a connection of",
  "targets.create": "add a target to",
  "targets.update": "change a target of",
  "targets.delete": "delete a target of",
  "rotations.create": "add a rotation to",
  "rotations.update": "change a rotation of",
  "rotations.delete": "delete a rotation of",
  "leaseRoles.create": "add a role to",
  "leaseRoles.delete": "delete a role of",
  "protections.set": "change the protection of",
  "protections.remove": "end the protection of"
}

/** Calls about secrets. Others, such as a write of many keys, are described by what happens to the keys. */
const ofSecrets: Readonly<Record<string, (secrets: string) => string>> = {
  "secrets.rollback": (secrets) => `roll ${secrets} back in`,
  "secrets.undelete": (secrets) => `restore ${secrets} in`,
  "secrets.destroy": (secrets) => `destroy versions of ${secrets} in`,
  "dues.update": (secrets) => `change the due date or the owner of ${secrets} in`,
  "environments.copy": (secrets) => `copy ${secrets} to`,
  "environments.revert": (secrets) => `revert ${secrets} in`,
  "useRules.create": (secrets) => `allow a use of ${secrets} in`,
  "useRules.update": (secrets) => `change a use rule of ${secrets} in`,
  "useRules.delete": (secrets) => `revoke a use of ${secrets} in`
}

const verbs: Readonly<Record<string, string>> = { created: "set", updated: "set", deleted: "delete" }

/** The words for a call that is about no single secret; undefined for others. */
export const placeSummary = (call: string): string | undefined => ofPlaces[call]

export const requestSummary = ({ call = "", keys = [] }: RequestedChange): string => {
  const summary = placeSummary(call)
  if (summary !== undefined) return summary
  const count = new Set(keys.map(({ key }) => key)).size
  const secrets = count === 1 ? "1 secret" : count === 0 ? "secrets" : `${count.toLocaleString("en")} secrets`
  const [verb = "change", ...others] = new Set(keys.map(({ change }) => verbs[change] ?? "change"))
  return ofSecrets[call]?.(secrets) ?? `${others.length === 0 ? verb : "change"} ${secrets} in`
}

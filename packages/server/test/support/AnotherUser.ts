import { spawnSync } from "node:child_process"

/** No entry of the passwd file has it, as in a container that runs under any number. */
export const anotherUser = 54_321

/**
 * Returns a command that starts the command after it as another user; null unless the tests run as root. The capability lets
 * that user read a checkout, and a Node, that only root may read, such as those in a home. Without the secure bit, access(2)
 * ignores the capability.
 */
export const asAnotherUser = (capability: "dac_override" | "dac_read_search"): ReadonlyArray<string> | null => {
  const options = [
    ...[`--reuid=${anotherUser}`, `--regid=${anotherUser}`, "--clear-groups"],
    ...["--securebits=+no_setuid_fixup", `--inh-caps=+${capability}`, `--ambient-caps=+${capability}`]
  ]
  return spawnSync("setpriv", [...options, "true"]).status === 0 ? ["setpriv", ...options] : null
}

import type { Protection } from "@coffer/domain/access/Protection"

const counts = ["", "one person", "two people", "three people"]

const named = (people: ReadonlyArray<string>) =>
  people.length === 1 ? people.join() : `${people.slice(0, -1).join(", ")} and ${people.at(-1) ?? ""}`

/** The people who have to approve, in words, such as `two people of the owners`. */
export const votersOf = ({ approvers, needed }: Pick<Protection, "approvers" | "needed">): string => {
  const who =
    approvers === "owners" ? "the owners" : approvers === "admins" ? "the admins and owners" : named(approvers)
  return typeof approvers !== "string" && approvers.length === needed
    ? who
    : `${counts[needed] ?? `${needed} people`} of ${who}`
}

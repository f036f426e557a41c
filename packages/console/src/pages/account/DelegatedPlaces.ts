import type { Delegation } from "@coffer/domain/directory/Delegation"

/** The environments of a delegation, in words. */
export const placesOf = ({
  also = [],
  env,
  org,
  project
}: Pick<Delegation, "also" | "env" | "org" | "project">): string =>
  [{ project, env }, ...also].map((one) => `${org}/${one.project}/${one.env}`).join(", ")

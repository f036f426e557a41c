import type { ArchiveCounts } from "@coffer/domain/archive/Manifest"

import { plural } from "../terminal/Plural.js"

/** The most important numbers of records, in words. */
export const recordsOf = ({ environments, projects, secrets, versions }: ArchiveCounts): string =>
  [
    plural(projects, "project"),
    plural(environments, "environment"),
    plural(secrets, "secret"),
    ...(versions > secrets ? [plural(versions - secrets, "earlier version")] : [])
  ].join(", ")

import type { ArchiveCounts } from "@coffer/domain/archive/Manifest"

import { plural } from "../terminal/Plural.js"

/**
 * The most important numbers of records, in words.
 *
 * @param hasEarlier whether the values of earlier versions are among them.
 */
export const recordsOf = ({ environments, projects, secrets, versions }: ArchiveCounts, hasEarlier: boolean): string =>
  [
    plural(projects, "project"),
    plural(environments, "environment"),
    plural(secrets, "secret"),
    ...(hasEarlier && versions > secrets ? [plural(versions - secrets, "earlier version")] : [])
  ].join(", ")

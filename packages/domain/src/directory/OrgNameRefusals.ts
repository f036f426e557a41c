import type { OrgName } from "../base/Names.js"

/** The message of the Conflict for a name that another organization has. */
export const orgNameInUse = (name: OrgName): string => `the organization name ${name} is in use: choose another`

/** The message for one that a protected organization had until lately. */
export const orgNameHeld = (name: OrgName): string =>
  `the organization name ${name} belonged to a place that was protected, and is not given out again yet: choose another`

/** Whether a Conflict is about a name alone: the same call goes on with another one. */
export const isOrgNameRefused = (message: string, name: OrgName): boolean =>
  message === orgNameInUse(name) || message === orgNameHeld(name)

/** What a requested change does that is about no single secret, by its call: words to be followed by the environment. */
const deeds: Readonly<Record<string, string>> = {
  "environments.delete": "delete the environment",
  "environments.extend": "change the end of",
  "projects.delete": "delete the project of",
  "organizations.delete": "delete the organization of",
  "protections.set": "change the protection of",
  "protections.remove": "end the protection of"
}

/** Returns the words for a call; undefined if its keys say what it changes. */
export const requestDeed = (call: string): string | undefined => deeds[call]

/** Mutants that no test notices, each with the reason. `npm run test:mutation` prints an entry to add. */
export const survivors = [
  {
    file: "access/caller/RecentLogin.ts",
    code: 'actor.type === "user"',
    mutant: "true",
    reason: "Equivalent: a service account has no field for a passkey. The checks are for the types."
  },
  {
    file: "access/place/Decisions.ts",
    code: "subject.role !== null",
    mutant: "true",
    reason:
      "Equivalent: a null role is not in the list of roles, so it is below each of them. The check is for the types."
  },
  {
    file: "access/place/Decisions.ts",
    code: "() => false",
    mutant: "() => undefined",
    reason: "Equivalent: the function is given to filter and some, for which undefined is false."
  },
  {
    file: "http/ClientAddress.ts",
    code: "/%\\S*$/",
    mutant: "/%\\S*/",
    reason: "Equivalent: a blank follows what the mutant removes, and no address has one."
  },
  {
    file: "http/ClientAddress.ts",
    code: "/^::ffff:(?=\\d+\\.\\d+\\.\\d+\\.\\d+$)/i",
    mutant: "/^::ffff:(?=\\d+\\.\\d+\\.\\d+\\.\\d+)/i",
    reason: "Equivalent: text after the fourth number makes it no address, with or without the prefix."
  },
  {
    file: "http/ClientAddress.ts",
    code: "[]",
    mutant: '["Stryker was here"]',
    reason: "Equivalent: a hop that is no address counts as an absent header."
  }
]

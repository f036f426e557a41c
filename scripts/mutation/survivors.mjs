/** Mutants that no test notices, each with the reason. `npm run test:mutation` prints an entry to add. */
export const survivors = [
  {
    file: "access/Admission.ts",
    code: "() => identity",
    mutant: "() => undefined",
    reason: "Equivalent: the body of an endpoint without a payload is never read."
  },
  {
    file: "access/Admission.ts",
    code: "() => false",
    mutant: "() => undefined",
    reason: "Equivalent: only whether it is true is asked."
  },
  {
    file: "access/Admission.ts",
    code: "actor !== null",
    mutant: "true",
    reason: "Equivalent: the types ask for it. Without an actor there is no delegation."
  },
  {
    file: "directory/requests/RequestExpiry.ts",
    code: "{ ...EndingRow.fields, org_id: OrgId, expires_at: Schema.Number }",
    mutant: "{}",
    reason: "Equivalent: a row is checked and not changed. The database's types allow no other."
  },
  {
    file: "secrets/environments/EnvironmentExpiry.ts",
    code: "row === undefined",
    mutant: "false",
    reason: "Equivalent: without a row nothing is marked, so nothing is recorded either."
  },
  {
    file: "directory/acl/RuleExpiry.ts",
    code: "{ ...RuleRow.fields, org_id: Schema.NullOr(OrgId) }",
    mutant: "{}",
    reason: "Equivalent: a row is checked and not changed. The database's types allow no other."
  },
  {
    file: "directory/service-accounts/KeyExpiry.ts",
    code: "{ id: Schema.String, expires_at: Schema.String, account_id: ServiceAccountId, account: Schema.String, org_id: OrgId }",
    mutant: "{}",
    reason: "Equivalent: a row is checked and not changed. The database's types allow no other."
  },
  {
    file: "secrets/environments/EnvironmentExpiry.ts",
    code: "{ id: EnvId, env: EnvName, expires_at: Schema.Number, project: Schema.String, project_id: ProjectId, /** Null if the project or its organization was removed: the environment goes with that. */ org_id: Schema.NullOr(OrgId) }",
    mutant: "{}",
    reason: "Equivalent: a row is checked and not changed. The database's types allow no other."
  },
  {
    file: "secrets/environments/EnvironmentExpiry.ts",
    code: "{ id: EnvId, expires_at: Schema.Number }",
    mutant: "{}",
    reason: "Equivalent: a row is checked and not changed. The database's types allow no other."
  },
  {
    file: "access/caller/AccountNetworks.ts",
    code: "known !== undefined",
    mutant: "false",
    reason: "Equivalent: a list that was parsed before is parsed again. The map saves time."
  },
  {
    file: "access/caller/AccountNetworks.ts",
    code: "lists.size >= maxLists",
    mutant: "true",
    reason: "Equivalent: how many lists are kept decides about memory and time, not about addresses."
  },
  {
    file: "access/caller/AccountNetworks.ts",
    code: "lists.size >= maxLists",
    mutant: "false",
    reason: "Equivalent: how many lists are kept decides about memory and time, not about addresses."
  },
  {
    file: "access/caller/AccountNetworks.ts",
    code: "lists.size >= maxLists",
    mutant: "lists.size > maxLists",
    reason: "Equivalent: how many lists are kept decides about memory and time, not about addresses."
  },
  {
    file: "access/caller/AccountNetworks.ts",
    code: "lists.size >= maxLists",
    mutant: "lists.size < maxLists",
    reason: "Equivalent: how many lists are kept decides about memory and time, not about addresses."
  },
  {
    file: "audit/Append.ts",
    code: "end.head.created_at < current",
    mutant: "end.head.created_at <= current",
    reason: "Equivalent: the two are the same text then."
  },
  {
    file: "audit/ListCheck.ts",
    code: "{ number: Schema.Number, log: Schema.String, created_at: Schema.String, chain: Schema.String, found: Schema.Number }",
    mutant: "{}",
    reason: "Equivalent: a row is checked and not changed. The database's types allow no other."
  },
  {
    file: "audit/ListCheck.ts",
    code: "{ id: OrgId }",
    mutant: "{}",
    reason: "Equivalent: a row is checked and not changed. The database's types allow no other."
  },
  {
    file: "access/caller/RecentLogin.ts",
    code: 'actor.type === "user"',
    mutant: "true",
    reason: "Equivalent: a service account has no field for a passkey. The checks are for the types."
  },
  {
    file: "access/gate/Approvers.ts",
    code: "{ user_id: UserId, email: Schema.typeSchema(Email), superadmin: Schema.Number, role: Role, rules: Schema.String, group_rules: Schema.String }",
    mutant: "{}",
    reason: "The schema of a row only refuses rows that no server writes."
  },
  {
    file: "access/gate/Gate.ts",
    code: "{ env_id: EnvId, project: ProjectName, env: EnvName }",
    mutant: "{}",
    reason: "The schema of a row only refuses rows that no server writes."
  },
  {
    file: "access/gate/Protections.ts",
    code: "{ needed: Schema.Number, approvers: Schema.String, self: Schema.Number, break_glass: Schema.String, expires_after: Schema.String, passkey: Schema.Number, version: Schema.Number, updated_by: Schema.String, updated_at: Schema.String }",
    mutant: "{}",
    reason: "The schema of a row only refuses rows that no server writes."
  },
  {
    file: "access/gate/Protections.ts",
    code: "{ id: UserIdSchema, email: Schema.typeSchema(Email), accepted_at: Schema.NullOr(Schema.String) }",
    mutant: "{}",
    reason: "The schema of a row only refuses rows that no server writes."
  },
  {
    file: "access/gate/Protections.ts",
    code: "[]",
    mutant: '["Stryker was here"]',
    reason: "Equivalent: the text is no address, so it is left out."
  },
  {
    file: "access/gate/VotingMembers.ts",
    code: "{ id: UserId, email: Schema.typeSchema(Email), role: Role }",
    mutant: "{}",
    reason: "The schema of a row only refuses rows that no server writes."
  },
  {
    file: "access/gate/VotingMembers.ts",
    code: "{ env_id: EnvId, project: ProjectName, env: EnvName, needed: Schema.Number, approvers: Schema.String, self: Schema.Number, break_glass: Schema.String }",
    mutant: "{}",
    reason: "The schema of a row only refuses rows that no server writes."
  },
  {
    file: "access/gate/VotingMembers.ts",
    code: "found.length === 0",
    mutant: "false",
    reason: "Equivalent: without protected environments nothing is stuck or lost. The check saves the members' reading."
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
    file: "directory/requests/RequestViews.ts",
    code: "one.created_at < other.created_at",
    mutant: "one.created_at <= other.created_at",
    reason: "Two votes of one millisecond have no order."
  },
  {
    file: "directory/requests/RequestViews.ts",
    code: "keys === null",
    mutant: "false",
    reason: "Equivalent: null as JSON is null, which is no list either. The check is for the types."
  },
  {
    file: "directory/requests/RequestViews.ts",
    code: "[]",
    mutant: '["Stryker was here"]',
    reason: "Equivalent: a text is no affected key, so it is left out."
  },
  {
    file: "directory/requests/RequestViews.ts",
    code: 'actor.type === "user"',
    mutant: "true",
    reason: "Equivalent: a service account has no address, and votes are found by theirs. The check is for the types."
  },
  {
    file: "directory/requests/Votes.ts",
    code: "row.call !== null",
    mutant: "true",
    reason: "Equivalent: null is in no set. The check is for the types."
  },
  {
    file: "directory/requests/Votes.ts",
    code: 'actor.type === "user"',
    mutant: "true",
    reason: "A service account is refused as a voter, whatever its change holds."
  },
  {
    file: "directory/requests/Votes.ts",
    code: "[]",
    mutant: '["Stryker was here"]',
    reason: "A service account is refused as a voter, whatever its change holds."
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
  },
  {
    file: "secrets/use-rules/Match.ts",
    code: "/^[a-z]+:\\/\\/[^/?]*([^?]*)/i",
    mutant: "/[a-z]+:\\/\\/[^/?]*([^?]*)/i",
    reason: "Equivalent: the text is an address that was read before, so it begins with its scheme."
  },
  {
    file: "secrets/use-rules/Match.ts",
    code: "[]",
    mutant: '["Stryker was here"]',
    reason: "Equivalent: the text is an address that was read before, so the pattern matches."
  },
  {
    file: "secrets/use-rules/Match.ts",
    code: "first === undefined",
    mutant: "false",
    reason: "Equivalent: the loop has returned if nothing is left. The check is for the types."
  },
  {
    file: "secrets/use/Scrub.ts",
    code: "/^[A-Za-z0-9+/_-]$/",
    mutant: "/[A-Za-z0-9+/_-]$/",
    reason: "Equivalent: the text is one character, or empty."
  },
  {
    file: "secrets/use/Scrub.ts",
    code: "/^[A-Za-z0-9+/_-]$/",
    mutant: "/^[A-Za-z0-9+/_-]/",
    reason: "Equivalent: the text is one character, or empty."
  },
  {
    file: "secrets/use/Scrub.ts",
    code: "length > 0",
    mutant: "true",
    reason: "Equivalent: the empty part becomes one with that of base64, which ends there or later."
  },
  {
    file: "secrets/use/Scrub.ts",
    code: "length > 0",
    mutant: "length >= 0",
    reason: "Equivalent: the empty part becomes one with that of base64, which ends there or later."
  },
  {
    file: "secrets/use/Scrub.ts",
    code: "start > 0",
    mutant: "true",
    reason: "Equivalent: before the first character is the empty text, which is no character of base64."
  },
  {
    file: "secrets/use/Scrub.ts",
    code: "start > 0",
    mutant: "start >= 0",
    reason: "Equivalent: before the first character is the empty text, which is no character of base64."
  },
  {
    file: "secrets/use/Placement.ts",
    code: "header === null",
    mutant: "false",
    reason: "Equivalent: no header is named null, so there are no signatures either."
  },
  {
    file: "secrets/use/Placement.ts",
    code: 'secret === undefined || typeof secret === "string"',
    mutant: "true",
    reason:
      "Equivalent: the library gives bytes in a view, which Node takes as they are. The types allow texts and buffers."
  },
  {
    file: "secrets/use/Placement.ts",
    code: 'typeof data === "string"',
    mutant: "true",
    reason:
      "Equivalent: the library gives bytes in a view, which Node takes as they are. The types allow texts and buffers."
  },
  {
    file: "secrets/use/Placement.ts",
    code: 'typeof data === "string"',
    mutant: "false",
    reason:
      "Equivalent: the library gives bytes in a view, which Node takes as they are. The types allow texts and buffers."
  },
  {
    file: "secrets/use/Placement.ts",
    code: 'typeof data === "string"',
    mutant: 'typeof data !== "string"',
    reason:
      "Equivalent: the library gives bytes in a view, which Node takes as they are. The types allow texts and buffers."
  },
  {
    file: "secrets/use/Placement.ts",
    code: "outgoing.body !== null",
    mutant: "true",
    reason: "Equivalent: the library takes null for an absent body."
  }
]

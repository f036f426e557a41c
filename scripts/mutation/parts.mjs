/**
 * The parts of the server that decide, by their folders: the files to change, the fast tests of these, and the lowest score in
 * percent. A part has only tests that call its files directly, or it takes hours.
 */
export const parts = {
  "access/Access": { files: ["access/{Access,gate/RemovalVotes}.ts"], tests: ["access/{Access,Entering}"], score: 90 },
  "access/caller": {
    files: ["access/caller/{AccountNetworks,AuthenticatedCaller,RecentLogin,SessionLimits,Subject}.ts"],
    tests: ["access/{AccountNetworks,Caller}"],
    score: 90
  },
  "access/Admission": {
    files: ["access/Admission.ts", "access/place/PlaceRefusals.ts"],
    tests: ["access/{Admission,Entering}"],
    score: 90
  },
  "access/Authenticator": {
    files: ["access/caller/Authenticator.ts"],
    tests: ["access/{Authenticator,Caller}"],
    score: 90
  },
  "access/gate": {
    files: ["access/gate/{Approvers,Gate,Protections,RequestStates,Voting,VotingMembers}.ts"],
    tests: ["access/{Approvers,GatePassing,RequestStates,Voters,Voting}"],
    score: 90
  },
  "access/place": {
    files: ["access/place/Decisions.ts"],
    tests: ["access/{Decisions,DelegatedDecisions}"],
    score: 90
  },
  audit: { files: ["audit/{Append,ListCheck}.ts"], tests: ["audit/{Appending,ListWalk}"], score: 80 },
  database: { files: ["database/Scopes.ts"], tests: ["database/ScopeOrder"], score: 80 },
  "directory/requests": {
    files: ["directory/requests/{ProtectionTerms,RequestViews,Votes}.ts"],
    tests: ["requests/{Deciding,ProtectionTerms,RequestViews}"],
    score: 90
  },
  expiry: {
    files: [
      "audit/Expiry.ts",
      "directory/acl/RuleExpiry.ts",
      "directory/login/CodeExpiry.ts",
      "directory/requests/RequestExpiry.ts",
      "directory/service-accounts/KeyExpiry.ts",
      "secrets/environments/EnvironmentExpiry.ts"
    ],
    tests: ["auth/CodeExpiry", "operations/{Endings,ExpiryEntries}"],
    score: 80
  },
  http: { files: ["http/{Body,ClientAddress}.ts"], tests: ["api/{Body,ClientAddress}"], score: 80 },
  "operations/backups": { files: ["operations/backups/Retention.ts"], tests: ["backups/Retention"], score: 80 },
  "secrets/matcher": {
    files: ["secrets/use/Matcher.ts"],
    tests: ["use/{Automaton,Matcher,ScrubbedParts,StreamScrub}"],
    score: 80
  },
  "secrets/use": {
    files: ["secrets/use-rules/Match.ts", "secrets/use/{Placement,Scrub}.ts"],
    tests: ["use/{Placement,RuleMatch,ScrubbedParts,SignedRequest}"],
    score: 80
  }
}

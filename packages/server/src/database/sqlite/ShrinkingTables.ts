/** The tables whose rows are deleted. All other tables only grow. */
export const shrinkingTables: ReadonlySet<string> = new Set([
  "sessions",
  "delegations",
  "federated_sessions",
  "key_sessions",
  "login_codes",
  "login_failures",
  "rate_events",
  "approvals",
  "use_rule_accounts",
  "group_members",
  "group_mappings",
  "login_groups",
  "request_parts",
  "declared_keys",
  "wrapped_keys",
  "webhook_deliveries",
  "due_mails",
  "client_logins",
  "jobs",
  "instances"
])

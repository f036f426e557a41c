/** The accounts and people of use rules by id: as on SQLite. */
export const useRuleAccounts: ReadonlyArray<string> = [
  `CREATE TABLE use_rule_accounts (
    rule_id TEXT COLLATE "C" NOT NULL REFERENCES use_rules (id),
    position BIGINT NOT NULL,
    org_id TEXT COLLATE "C" NOT NULL REFERENCES organizations (id),
    subject_id TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (rule_id, position)
  )`,
  `CREATE INDEX use_rule_accounts_of_subject ON use_rule_accounts (subject_id, org_id)`,
  `INSERT INTO use_rule_accounts (rule_id, position, org_id, subject_id)
    SELECT r.id, n.position - 1, p.org_id, s.id
    FROM use_rules r
    JOIN secrets k ON k.id = r.secret_id
    JOIN environments e ON e.id = k.env_id
    JOIN projects p ON p.id = e.project_id
    CROSS JOIN LATERAL json_array_elements_text(r.terms::json -> 'accounts') WITH ORDINALITY AS n (name, position)
    JOIN (SELECT id, org_id, name FROM service_accounts WHERE removed_at IS NULL
      UNION ALL SELECT u.id, m.org_id, u.email FROM members m JOIN users u ON u.id = m.user_id WHERE m.removed_at IS NULL) s
      ON s.org_id = p.org_id AND s.name = n.name
    WHERE r.removed_at IS NULL`
]

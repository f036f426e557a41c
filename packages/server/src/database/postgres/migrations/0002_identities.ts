/** The identities of people at a provider of single sign-on, and the kind of each session. */
export const identities = [
  `CREATE TABLE identities (
    id TEXT COLLATE "C" PRIMARY KEY,
    issuer TEXT COLLATE "C" NOT NULL,
    sub TEXT COLLATE "C" NOT NULL,
    user_id TEXT COLLATE "C" NOT NULL REFERENCES users (id),
    email TEXT COLLATE "C" NOT NULL,
    created_at TEXT COLLATE "C" NOT NULL,
    last_used_at TEXT COLLATE "C" NOT NULL,
    UNIQUE (issuer, sub),
    UNIQUE (issuer, user_id)
  )`,
  `ALTER TABLE sessions ADD COLUMN kind TEXT COLLATE "C" NOT NULL DEFAULT 'token'`
]

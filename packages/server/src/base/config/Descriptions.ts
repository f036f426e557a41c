export interface Description {
  readonly variable: string
  readonly meaning: string
  /** As it would be written in the environment. */
  readonly default?: string
  /** Whether VARIABLE_FILE may name a file with the value. */
  readonly file?: true
  /** Whether the value is never shown. The values of variables with `file` never are. */
  readonly secret?: true
  /** When it is required; undefined if never. */
  readonly required?: string
}

export interface DescribedGroup {
  readonly title: string
  readonly variables: ReadonlyArray<Description>
}

/** All variables of the server, for the documentation. A test compares them with those that `loadConfig` reads. */
export const described: ReadonlyArray<DescribedGroup> = [
  {
    title: "Keys and data",
    variables: [
      {
        variable: "SERVICE_MASTER_KEY",
        meaning: "The key that encrypts all data. Keep a copy at another site, apart from the backups",
        required: "unless SERVICE_MASTER_KEY_COMMAND is set",
        file: true
      },
      {
        variable: "SERVICE_MASTER_KEY_COMMAND",
        meaning:
          "A command that prints the key, instead of the variable or its file: a JSON array of a program and its arguments, run without a shell for at most 10 seconds, without the server's settings in its environment",
        secret: true
      },
      {
        variable: "SERVICE_DB_PATH",
        meaning: "The database file, created with mode 0600. Its directory must be writable, for more files beside it",
        default: "service.db"
      },
      {
        variable: "SERVICE_DATABASE_URL",
        meaning:
          "A PostgreSQL database instead of the file, for several servers: `postgres://USER:PASSWORD@HOST/DATABASE`. TLS is required unless the host is loopback or a socket; `?sslmode=` changes that, as in libpq",
        file: true
      },
      {
        variable: "SERVICE_DATABASE_POOL",
        meaning:
          "How many connections to PostgreSQL this server opens at most, all of its processes together: 2 to 100. With more than 2 workers the default is 4 for each and 2 more",
        default: "10"
      },
      {
        variable: "SERVICE_DATABASE_MIGRATE",
        meaning:
          "`check`: the server does not migrate the schema of PostgreSQL, and starts only if it is current: see `coffer-server migrate`",
        default: "auto"
      },
      {
        variable: "SERVICE_DATABASE_MIGRATE_URL",
        meaning:
          "Another role for migrations of PostgreSQL, so that the server's own role owns no table. It grants the server's role what that needs",
        file: true
      },
      {
        variable: "SERVICE_DATABASE_PREPARE",
        meaning: "`0`: statements are not prepared, for PgBouncer before 1.21 in transaction mode",
        default: "1"
      }
    ]
  },
  {
    title: "Listening",
    variables: [
      {
        variable: "SERVICE_HOST",
        meaning:
          "The address to listen on. Without SERVICE_TLS_CERT_FILE the server speaks plain HTTP. Keep it behind a proxy, or set SERVICE_TRUSTED_PROXIES: it trusts X-Real-Ip otherwise",
        default: "127.0.0.1"
      },
      { variable: "SERVICE_PORT", meaning: "The port to listen on; 0: any free port", default: "7100" },
      {
        variable: "SERVICE_WORKERS",
        meaning:
          "How many processes serve requests, each on a core of its own: 1 to 16, or `auto` for as many as the machine has cores, at most 8. More than 1 needs SERVICE_DATABASE_URL",
        default: "1"
      },
      {
        variable: "SERVICE_TLS_CERT_FILE",
        meaning:
          "A file with the certificate and its chain (PEM): the server then speaks HTTPS, without a proxy. Read again within a minute after it changes",
        required: "with SERVICE_TLS_KEY_FILE"
      },
      {
        variable: "SERVICE_TLS_KEY_FILE",
        meaning: "The file of its private key (PEM), which not every user of the machine may read",
        required: "with SERVICE_TLS_CERT_FILE"
      },
      {
        variable: "SERVICE_TLS_MIN_VERSION",
        meaning: "`1.2` lets in clients that cannot speak TLS 1.3",
        default: "1.3"
      },
      {
        variable: "SERVICE_TRUSTED_PROXIES",
        meaning:
          "The networks of the proxies, such as `10.0.0.0/8`, separated by commas, or `none`: X-Real-Ip and X-Forwarded-For of other peers are ignored. Needed for accounts that are bound to networks. Empty: every peer is believed"
      },
      {
        variable: "SERVICE_CONSOLE",
        meaning: "`0`: the server does not serve the web console. The login page stays",
        default: "1"
      },
      {
        variable: "SERVICE_VAULT_API",
        meaning: "`1`: serves a read-only view of Vault's KV v2 API under /v1, for programs that speak it",
        default: "0"
      },
      {
        variable: "SERVICE_MCP",
        meaning: "`off`: the server serves no tools to agents at `/mcp`",
        default: "on"
      },
      {
        variable: "SERVICE_MCP_ORIGINS",
        meaning:
          "The origins of web pages that may call `/mcp` from browsers (CORS), beside the server's own. Requests of other origins are refused"
      },
      {
        variable: "SERVICE_OAUTH_CLIENTS",
        meaning:
          "The hosts whose programs may ask people for a part of their rights by OAuth, such as `claude.ai` or `*.example.com`, separated by commas; `*`: any. Programs on a person's own computer may always ask",
        default: "*"
      },
      {
        variable: "SERVICE_SCIM_DOMAINS",
        meaning:
          "The domains of the people whom directories may manage by SCIM: `example.com` for every organization, `acme:example.com` for one, separated by commas. `acme:*`: people of any domain. Empty: no directory may"
      },
      {
        variable: "SERVICE_SECURITY_CONTACT",
        meaning:
          "Whom people tell of a security problem with this server. `/.well-known/security.txt` (RFC 9116) names the contacts, in order of preference. Empty: there is no such page"
      },
      {
        variable: "CORS_ALLOWED_ORIGINS",
        meaning: "The origins of web pages that may call the API from browsers (CORS). Empty: none"
      },
      {
        variable: "SERVICE_METRICS_PORT",
        meaning: "Serves /metrics for Prometheus on 127.0.0.1 at this port. Empty: off"
      }
    ]
  },
  {
    title: "Mail",
    variables: [
      {
        variable: "SMTP_HOST",
        meaning: "The mail server for login codes; `log` prints them to the server's log instead, for development",
        required: "always"
      },
      {
        variable: "SMTP_PORT",
        meaning: "465: TLS from the start; others: STARTTLS, unless SMTP_TLS is `implicit`",
        default: "587"
      },
      {
        variable: "SMTP_USERNAME",
        meaning: "Set together with SMTP_PASSWORD, or neither: then mail is sent without authentication"
      },
      { variable: "SMTP_PASSWORD", meaning: "See SMTP_USERNAME", file: true },
      {
        variable: "SMTP_FROM",
        meaning: "The sender of the mails, such as `Coffer <coffer@example.com>`",
        required: "unless SMTP_HOST is `log`"
      },
      {
        variable: "SMTP_TLS",
        meaning:
          "`implicit`: TLS from the start, on any port. `none` permits unencrypted mail if the server offers no STARTTLS; on loopback this is always permitted",
        default: "required"
      },
      {
        variable: "SMTP_EHLO_NAME",
        meaning:
          "The name that greets the mail server (EHLO). Empty: the host name in SERVICE_PUBLIC_URL, else the domain of SMTP_FROM"
      },
      {
        variable: "SERVICE_INVITATION_MAIL",
        meaning: "`0`: invitations to an organization are not mailed",
        default: "1"
      },
      {
        variable: "SERVICE_APPROVAL_MAIL",
        meaning:
          "`0`: people who may approve requests with secrets are not mailed when one waits. Without a mail server they never are",
        default: "1"
      }
    ]
  },
  {
    title: "Login",
    variables: [
      {
        variable: "SERVICE_PUBLIC_URL",
        meaning:
          "The address at which browsers reach the server. It decides how session cookies are set, and the provider of single sign-on sends people back there. Federations need it too",
        required: "with SERVICE_OIDC_ISSUER"
      },
      {
        variable: "SERVICE_EMAIL_LOGIN",
        meaning: "`0`: no login codes are mailed, and people log in only by single sign-on",
        default: "1"
      },
      {
        variable: "SERVICE_OIDC_ISSUER",
        meaning: "The provider of single sign-on (OpenID Connect), as its tokens name it. Empty: off",
        required: "with any other setting of SERVICE_OIDC_…"
      },
      {
        variable: "SERVICE_OIDC_CLIENT_ID",
        meaning: "The id of the client that stands for this server at the provider",
        required: "with SERVICE_OIDC_ISSUER"
      },
      {
        variable: "SERVICE_OIDC_CLIENT_SECRET",
        meaning: "The secret of that client",
        required: "with SERVICE_OIDC_ISSUER",
        file: true
      },
      {
        variable: "SERVICE_OIDC_NAME",
        meaning: "The provider's name on the login page. Empty: the issuer's host"
      },
      {
        variable: "SERVICE_OIDC_ALLOWED_DOMAINS",
        meaning: "The domains of e-mail addresses that may log in by the provider. Empty: all that it lets in"
      },
      {
        variable: "SERVICE_OIDC_EMAIL_TRUST",
        meaning:
          "What verifies an address at the provider. `verified`: `email_verified` alone. `edov`, for one tenant of Microsoft Entra ID: also `xms_edov`. `domains`, if only your administrators can change addresses there: all of SERVICE_OIDC_ALLOWED_DOMAINS, which is then required. Neither ever overrides an `email_verified`",
        default: "verified"
      },
      {
        variable: "SERVICE_OIDC_LINK",
        meaning:
          "`verified-email`: the first login by the provider links a known user with that verified address. `never`: known users without an identity are refused",
        default: "verified-email"
      },
      {
        variable: "SERVICE_OIDC_AUTH_TIME",
        meaning:
          "`required`: a login by the provider counts as recent only if its token says by `auth_time` that the person proved who they are in the last 15 minutes. `assumed`: every login counts, for a provider that sends no `auth_time`",
        default: "required"
      },
      {
        variable: "SERVICE_OIDC_GROUPS_CLAIM",
        meaning:
          "The claim of the ID token, or of the userinfo response, that lists a person's groups, such as `groups`. Organizations map them to their own groups. Empty: none are taken"
      },
      {
        variable: "SERVICE_OIDC_GROUPS_MAX_AGE",
        meaning: "How long the groups of a login count after it",
        default: "12h"
      }
    ]
  },
  {
    title: "Who may do what",
    variables: [
      {
        variable: "SUPERADMIN_EMAIL_0",
        meaning:
          "And `_1`, `_2`, …: users who bypass all roles and rules. Read at each start; users no longer listed are demoted"
      },
      {
        variable: "SERVICE_SIGNUP",
        meaning:
          "`invited` mails codes only to invited people, superadmins and known users; the response is the same for all",
        default: "open"
      },
      {
        variable: "SERVICE_SIGNUP_DOMAINS",
        meaning: "With SERVICE_SIGNUP=invited: people of these domains need no invitation"
      },
      {
        variable: "SERVICE_ORG_CREATION",
        meaning: "`superadmin` lets only superadmins create organizations",
        default: "anyone"
      },
      {
        variable: "SERVICE_TRASH_DAYS",
        meaning:
          "For how many days removed organizations, projects and environments can be restored; their values are erased after that. `0`: not at all, and they are erased within the hour",
        default: "30"
      },
      {
        variable: "SERVICE_DELEGATION_MAX_HOURS",
        meaning:
          "How long delegations of people's rights to agents and scripts last at most, those that exist too. `0`: there are none",
        default: "24"
      }
    ]
  },
  {
    title: "Machines and requests of the server",
    variables: [
      {
        variable: "SERVICE_OIDC_MACHINE_ISSUERS",
        meaning:
          "Issuers whose tokens federations may take, beside those of github.com and gitlab.com: https addresses exactly as in the tokens' `iss`, separated by commas"
      },
      {
        variable: "SERVICE_OUTBOUND_ALLOW_NETWORKS",
        meaning:
          "Networks that are not public, to which the server may make requests (for the keys of issuers, for webhooks, and with secrets by use rules), such as `10.0.0.0/8`, separated by commas. For operators' own settings, such as the mail server, this list is not asked"
      },
      {
        variable: "SERVICE_RENEWAL_NETWORKS",
        meaning:
          "Networks in which the server may log in to databases to renew credentials, such as `10.0.0.0/8`, separated by commas. Public addresses need not be listed. Without any network, credentials are not renewed"
      },
      {
        variable: "SERVICE_LEASES_PER_ENVIRONMENT",
        meaning: "The most leases of users of databases that an environment has at once",
        default: "500"
      },
      {
        variable: "SERVICE_LEASES_PER_CALLER",
        meaning: "The most of them that one person or service account has in an environment at once",
        default: "20"
      },
      {
        variable: "SERVICE_BROKER",
        meaning:
          "`1`: the server makes requests with secrets for accounts that are never given the values, as use rules allow",
        default: "0"
      },
      {
        variable: "SERVICE_BROKER_URL",
        meaning:
          "The address at which a process of its own (`coffer-server broker`) makes these requests. The server names it to callers"
      }
    ]
  },
  {
    title: "Backups",
    variables: [
      {
        variable: "BACKUP_S3_ENDPOINT",
        meaning: "The S3-compatible store. Without it and BACKUP_DIR, backups are disabled",
        required: "with any other setting of backups, unless BACKUP_DIR is set"
      },
      { variable: "BACKUP_S3_REGION", meaning: "Its region", default: "us-east-1" },
      { variable: "BACKUP_S3_BUCKET", meaning: "The bucket", required: "with BACKUP_S3_ENDPOINT" },
      { variable: "BACKUP_S3_ACCESS_KEY", meaning: "The access key's id", required: "with BACKUP_S3_ENDPOINT" },
      {
        variable: "BACKUP_S3_SECRET_KEY",
        meaning: "The access key's secret",
        required: "with BACKUP_S3_ENDPOINT",
        file: true
      },
      { variable: "BACKUP_S3_PREFIX", meaning: "The prefix of all object names, such as `coffer/`" },
      {
        variable: "BACKUP_DIR",
        meaning:
          "An existing directory instead of an S3-compatible store. Use another disk than the database's, and let only the server's user write to it"
      },
      { variable: "BACKUP_SCHEDULE_HOURS", meaning: "Hours between automatic backups; 0: none", default: "0" },
      {
        variable: "BACKUP_RETAIN_DAILY_DAYS",
        meaning: "Keeps the newest backup of each of this many days (UTC) that have one",
        default: "7"
      },
      {
        variable: "BACKUP_RETAIN_WEEKLY_WEEKS",
        meaning: "Keeps the newest backup of each of this many ISO weeks that have one",
        default: "4"
      }
    ]
  },
  {
    title: "Logs, audit and traces",
    variables: [
      {
        variable: "SERVICE_LOG_LEVEL",
        meaning: "The minimum level that is logged. In development mode, login codes are printed at any level",
        default: "info"
      },
      {
        variable: "SERVICE_LOG_FORMAT",
        meaning: "`pretty` for people, `json` for machines. Empty: `pretty` on a terminal, else `json`"
      },
      {
        variable: "SERVICE_AUDIT_STREAM",
        meaning: "Where to write each committed audit entry as a line of JSON, for a SIEM. Empty: off"
      },
      {
        variable: "SERVICE_AUDIT_KEEP_DAYS",
        meaning:
          "How many days entries stay in the audit logs. Older ones leave for archives in the store of the backups. `0`: for ever",
        default: "0"
      },
      {
        variable: "SERVICE_AUDIT_REQUIRED",
        meaning: "`1`: a read waits for its audit entry's commit; a read or change whose entry cannot be written fails",
        default: "0"
      },
      {
        variable: "OTEL_EXPORTER_OTLP_ENDPOINT",
        meaning: "The receiver of traces over OTLP. Empty: off"
      },
      { variable: "OTEL_SERVICE_NAME", meaning: "The service's name in traces", default: "coffer-server" },
      {
        variable: "OTEL_EXPORTER_OTLP_HEADERS",
        meaning: "Headers for the receiver of traces; needs OTEL_EXPORTER_OTLP_ENDPOINT",
        secret: true
      }
    ]
  }
]

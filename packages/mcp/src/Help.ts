/** The output of `coffer-mcp --help`. */
export const helpText = `USAGE
  coffer-mcp

DESCRIPTION
  Serves the tools of Coffer to an agent, over the Model Context Protocol on standard input and output.
  A host for agents starts it; it reads no options, only variables.

VARIABLES
  SERVICE_SERVER_URL     The server's address (default: server_url in service.yml, else http://localhost:7100)
  SERVICE_API_KEY        The key of the agent's service account (default: the session of coffer login)
  SERVICE_API_KEY_FILE   A file with that key
  SERVICE_ACCOUNT        ORGANIZATION/ACCOUNT that signs in with a token of its CI system or cluster, without a key
  SERVICE_HEADERS_FILE   A private file of further headers, NAME: VALUE, that something before the server wants
  SERVICE_ORG            The organization of calls that name none (default: org in service.yml)
  SERVICE_PROJECT        The project of calls that name none (default: project in service.yml)
  SERVICE_ENV            The environment of calls that name none (default: env in service.yml)
  SERVICE_MCP_READ_ONLY  1: only the tools that change nothing
  SERVICE_MCP_REVEAL     0: no tool returns a value
  SERVICE_MCP_PIN        1: no call may name another organization, project or environment
  SERVICE_MCP_EXTRA      1: also secret_compare, secret_find, secret_versions, secret_rollback, secret_copy and secret_generate
  SERVICE_MCP_TOOLS      usable: only the tools that the credential can ever use; or names, separated by commas
  SERVICE_MCP_USE        1: also http_request and secret_uses, for requests with secrets that stay on the server

OPTIONS
  --help, -h  Show this help
  --version   Show the version
`
